#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

/// The call of probe(…).
Call probe(const SourceView& code) {
  for (const Call& call : code.calls()) {
    if (call.callee().text() == "probe") return call;
  }
  FAIL("no probe");
  return {};
}

Expr probed(const SourceView& code) { return probe(code).arguments().at(0); }

std::string root(const std::string& text) {
  const Cells code({"import torch\nc = f()\n" + text});
  return std::string(probed(code).root().text());
}

std::size_t functions(const std::string& text) {
  const Cells code({text});
  return probed(code).functions().size();
}

bool loss_like(const std::string& text) {
  const Cells code({"import torch\nnet = torch.nn.Linear(3, 4)\n" + text});
  return probed(code).is_loss_like();
}

bool in_forward(const std::string& method) {
  const Cells code(
      {"import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
       "        return self.step(x)\n" +
       method});
  return code.runs_in_forward(probed(code));
}

}  // namespace

TEST_SUITE("questions that rules ask") {
  TEST_CASE("elements and results of methods belong to what they were taken from") {
    CHECK(root("probe(c)") == "c");
    CHECK(root("probe(c[1])") == "c");
    CHECK(root("probe(c['a'].setdefault(n, []))") == "c");
    CHECK(root("probe(c.detach().cpu()[0])") == "c");
    CHECK(root("probe(torch.cat(x)[0])") == "torch.cat(x)");
  }

  TEST_CASE("a callback is known by its name, in a partial, and by the factory that makes it") {
    CHECK(functions("probe(lambda x: x)") == 1);
    CHECK(functions("def f(x):\n    pass\nprobe(f)") == 1);
    CHECK(functions("import functools\ndef f(x):\n    pass\nprobe(functools.partial(f, 1))") == 1);
    CHECK(functions("def make(n):\n    def f(x):\n        pass\n    return f\nprobe(make(1))") ==
          1);
    CHECK(functions("f = lambda x: x\nprobe(f)") == 1);
    CHECK(functions("probe(g)") == 0);
  }

  TEST_CASE("losses are known by their function, reductions by having no dimension") {
    CHECK(loss_like("probe(net(x).mean())"));
    CHECK(loss_like("l = torch.mean(net(x))\nprobe(l)"));
    CHECK_FALSE(loss_like("probe(net(x).mean(1))"));
    CHECK_FALSE(loss_like("probe(net(x))"));
  }

  TEST_CASE("what decorates a function or is the base of a class is in use") {
    CHECK(Cells({"import tensorflow as tf\n@tf.function\ndef f(x):\n    pass"})
              .uses("tensorflow.function"));
    CHECK(
        Cells({"import keras\nclass L(keras.layers.Layer):\n    pass"}).uses("keras.layers.Layer"));
    CHECK_FALSE(Cells({"import tensorflow as tf\ntf.constant(1)"}).uses("tensorflow.function"));
  }

  TEST_CASE("a pass runs forward and the methods that it calls") {
    CHECK(in_forward("    def step(self, x):\n        probe(x)\n"));
    CHECK_FALSE(in_forward("    def other(self, x):\n        probe(x)\n"));
  }

  TEST_CASE("an expression has an assignment only on its right side") {
    const Cells right({"y = 2 * probe(x)"});
    const Cells left({"c[probe(x)] = 2"});
    CHECK(probe(right).assignment());
    CHECK_FALSE(probe(left).assignment());
  }
}
