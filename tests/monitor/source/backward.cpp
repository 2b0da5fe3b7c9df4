#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

/// The value of the argument of probe(…).
Value value(const std::string& code) {
  const Cells cells({"import torch\nnet = torch.nn.Linear(4, 1)\n" + code});
  for (const Call& call : cells.calls()) {
    if (call.callee().text() == "probe") return call.arguments().at(0).value();
  }
  FAIL("no probe");
  return {};
}

bool is_loss(const std::string& code) {
  const Value known = value(code);
  return known.loss && known.is_gradful();
}

// A scalar with a backward pass of its own, and a class that runs the pass of a loss.
constexpr const char* kScalar = "class Scalar:\n    def backward(self):\n        self.grad = 1\n";
constexpr const char* kTrainer =
    "class Trainer:\n    def backward(self, loss):\n        loss.backward()\n";

}  // namespace

TEST_SUITE("where a backward pass begins") {
  TEST_CASE("without an argument it begins at what it is called on") {
    CHECK(is_loss("l = f(x)\nl.backward()\nprobe(l)"));
    CHECK(is_loss("l = f(x)\nl.backward(retain_graph=True)\nprobe(l)"));
    CHECK(is_loss("l = f(x)\ntorch.autograd.backward(l)\nprobe(l)"));
  }

  TEST_CASE("with one it begins there, whatever the object is called") {
    for (const char* owner :
         {"accelerator.backward", "fabric.backward", "engine.backward", "scaler.backward",
          "self.manual_backward", "self.trainer.engine.backward"}) {
      const std::string pass = std::string(owner) + "(l)\n";
      CAPTURE(pass);
      CHECK(is_loss("l = f(x)\n" + pass + "probe(l)"));
    }
    for (const char* owner : {"accelerator", "fabric", "engine", "model"}) {
      const std::string name(owner);
      CAPTURE(name);
      const std::string made = name + " = " + "g(x)\n" + name;
      CHECK_FALSE(value(made + ".backward(l)\nprobe(" + name + ")").is_tensor());
      CHECK_FALSE(value(made + ".backward(l, retain_graph=True)\nprobe(" + name + ")").is_tensor());
      CHECK_FALSE(value(made + ".backward(loss=l)\nprobe(" + name + ")").is_tensor());
      CHECK_FALSE(value(made + ".backward(l)\nprobe(" + name + ".gather(x))").is_tensor());
    }
  }

  TEST_CASE("a tensor's own pass begins at the tensor, with a gradient too") {
    CHECK(value("y = net(x)\ny.backward(v)\nprobe(y)").is_gradful());
    CHECK_FALSE(value("v = g(x)\ny = net(x)\ny.backward(v)\nprobe(v)").loss);
  }

  TEST_CASE("where a class of the program has such a method, nothing is inferred from it") {
    const std::string scalar(kScalar);
    CHECK_FALSE(value(scalar + "v = f(x)\nv.backward()\nprobe(v)").is_tensor());
    CHECK_FALSE(
        value(scalar + "v = f(x)\nv.backward()\nfor c in v.made_of:\n    probe(c)").is_tensor());
    CHECK_FALSE(value(std::string(kTrainer) + "l = f(x)\ntrainer.backward(l)\nprobe(l)").loss);
  }

  TEST_CASE("unless the method could not be the one that is called") {
    // It asks for an argument, or has another name for it.
    CHECK(is_loss(std::string(kTrainer) + "l = f(x)\nl.backward()\nprobe(l)"));
    CHECK(is_loss(std::string(kTrainer) + "l = f(x)\nl.backward(retain_graph=True)\nprobe(l)"));
    // Autograd alone calls that of a function.
    CHECK(
        is_loss("class Cube(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx):\n"
                "        pass\nl = f(x)\nl.backward()\nprobe(l)"));
  }

  TEST_CASE("in a program that knows nothing of torch it is another framework's") {
    const auto is_tensor = [](const std::string& imports) {
      const Cells cells({imports + "\nl = f(x)\nl.backward()\nprobe(l)"});
      return cells.calls().back().arguments().at(0).value().is_tensor();
    };
    CHECK_FALSE(is_tensor("from mxnet import gluon"));
    CHECK_FALSE(is_tensor("import paddle"));
    CHECK(is_tensor("from torch.optim import AdamW"));
    CHECK(is_tensor("import torch.nn as nn"));
    CHECK(is_tensor("from fastai.vision.all import *"));
  }

  TEST_CASE("an object that runs the backward pass of a loss is not in that pass itself") {
    const auto is_in_pass = [](const std::string& code) {
      const Cells cells({code});
      return cells.reaches_backward(cells.assignments().at(0).child(source::Field::left).place());
    };
    CHECK(is_in_pass("l = f(x)\naccelerator.backward(l)"));
    CHECK_FALSE(is_in_pass("accelerator = f(x)\naccelerator.backward(l)"));
    CHECK_FALSE(is_in_pass("self.helper = f(x)\nself.helper.manual_backward(l)"));
    CHECK(is_in_pass("l = f(x)\n" + std::string(kTrainer) + "t = Trainer()\nt.backward(l)"));
  }
}
