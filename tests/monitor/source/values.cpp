#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

constexpr const char* kModel =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "class Net(nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n"
    "net = Net().to('cuda')\n";

/// The value of the argument of probe(…), at the end of a program with a model.
Value value(const std::string& code) {
  const Cells cells({kModel, code});
  for (const Call& call : cells.calls()) {
    if (call.callee().text() == "probe") return call.arguments().at(0).value();
  }
  FAIL("no probe");
  return {};
}

bool gradful(const std::string& code) { return value(code).is_gradful(); }

}  // namespace

TEST_SUITE("what values are") {
  TEST_CASE("what a model returns carries a graph, through most operations") {
    for (const char* way :
         {"probe(net(x))", "y = net(x)\nprobe(y)", "probe(net(x).cpu())",
          "probe(net(x).clone().view(-1)[0])", "probe(2 * net(x) + 1)", "probe(F.relu(net(x)))",
          "a, b = net(x)\nprobe(a)", "def f(m, x):\n    return m(x).mean()\nprobe(f(net, x))",
          "probe(torch.stack([net(x), net(x)]))"}) {
      CAPTURE(way);
      CHECK(gradful(way));
    }
  }

  TEST_CASE("what was detached, counted or compared carries none") {
    for (const char* way :
         {"probe(net(x).detach())", "probe(net(x).item())", "probe(net(x).argmax(1))",
          "probe(float(net(x)))", "probe(net(x).shape)", "probe(net(x) > 0)", "probe(f'{net(x)}')",
          "probe(net(x).data)", "y = net(x)\ny.detach_()\nprobe(y)",
          "with torch.no_grad():\n    y = net(x)\nprobe(y)",
          "def f(m, x):\n    return m(x).item()\nprobe(f(net, x))"}) {
      CAPTURE(way);
      CHECK_FALSE(gradful(way));
    }
  }

  TEST_CASE("data and parameters have no graph behind them") {
    for (const char* way : {"probe(torch.zeros(3))", "probe(torch.zeros(3, requires_grad=True))",
                            "for p in net.parameters():\n    probe(p)", "probe(nn.Parameter(x))"}) {
      CAPTURE(way);
      CHECK_FALSE(gradful(way));
    }
    CHECK(gradful("for p in net.parameters():\n    probe(p.norm())"));
    CHECK_FALSE(gradful("w = nn.Parameter(x, requires_grad=False)\nprobe(w.exp())"));
    CHECK_FALSE(gradful("w = nn.Parameter(x)\nprobe(torch.zeros(3).to(w))"));
  }

  TEST_CASE("a loss is known by its function, and by where it goes") {
    CHECK(value("probe(F.cross_entropy(net(x), y))").loss);
    CHECK(value("crit = nn.MSELoss()\nprobe(crit(net(x), y))").loss);
    const Value led_back = value("def f(a, b):\n    l = a(b)\n    l.backward()\n    probe(l)");
    CHECK(led_back.loss);
    CHECK(led_back.is_gradful());
  }

  TEST_CASE("a total that starts as a number becomes a tensor by what is added") {
    CHECK(gradful("total = 0.0\nfor x in y:\n    total += net(x).mean()\nprobe(total)"));
    CHECK_FALSE(
        gradful("total = 0.0\nfor x in y:\n    total += net(x).mean().item()\nprobe(total)"));
  }

  TEST_CASE("a constructor's parameter is what the calls of its class hand over") {
    const std::string holder =
        "class Holder:\n    def __init__(self, net, rate=1):\n        self.net = net\n"
        "        self.rate = rate\n    def use(self, x):\n        probe(self.net(x))\n";
    CHECK(gradful(holder + "Holder(net)"));
    CHECK(gradful(holder + "Holder(rate=2, net=net)"));
    CHECK_FALSE(gradful(holder + "Holder(str)"));
    CHECK_FALSE(gradful(holder));
  }

  TEST_CASE("a chain of names does not go round for ever") {
    CHECK_FALSE(gradful("a = b\nb = a\nprobe(a)"));
    CHECK_FALSE(gradful("def f(x):\n    return f(x)\nprobe(f(1))"));
  }

  TEST_CASE("indices of the largest have no graph, their values do") {
    CHECK_FALSE(gradful("v, i = torch.max(net(x), 1)\nprobe(i)"));
    CHECK_FALSE(gradful("probe(net(x).topk(3)[1])"));
    CHECK(gradful("v, i = net(x).max(1)\nprobe(v)"));
  }

  TEST_CASE("in a method, self is an instance of the class around it") {
    const std::string module =
        "class A(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(4, 4)\n"
        "    def forward(self, x):\n        return self.fc(x)\n";
    CHECK(gradful(module + "    def step(self, x):\n        probe(self(x))"));
    CHECK(gradful(module + "    def step(self, x):\n        probe(self.fc(x))"));
    CHECK(gradful(module + "a = A()\nprobe(a.fc(x))"));
    CHECK_FALSE(gradful(module + "    def validation_step(self, x):\n        probe(self(x))"));
  }
}
