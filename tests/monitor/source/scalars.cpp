#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

/// The argument of probe(…), at the end of a program with a model.
template <typename Question>
auto probed(const std::string& code, Question question) {
  const Cells cells(
      {"import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
       "net = nn.Linear(4, 2)\n" +
       code});
  for (const Call& call : cells.calls()) {
    if (call.callee().text() == "probe") return question(call.arguments().at(0));
  }
  FAIL("no probe");
  return question(Expr());
}

bool is_scalar(const std::string& code) {
  return probed(code, [](const Expr& it) { return it.is_scalar(); });
}

std::optional<long long> constant(const std::string& code) {
  return probed(code, [](const Expr& it) { return it.constant(); });
}

std::optional<long long> iterations(const std::string& code) {
  return Cells({code}).loops().at(0).iterations();
}

}  // namespace

TEST_SUITE("what can be counted") {
  TEST_CASE("a name that is assigned once, to a number, is a constant") {
    CHECK(constant("probe(4)") == 4);
    CHECK(constant("k = 4\nprobe(k)") == 4);
    CHECK(constant("k = 4\nn = k + 1\nprobe(n - 2)") == 3);
    CHECK(constant("k = 4\ndef f():\n    probe(k)") == 4);
  }

  TEST_CASE("a name that may have another value is not") {
    CHECK_FALSE(constant("k = 4\nk = 5\nprobe(k)"));
    CHECK_FALSE(constant("k = 4\nk += 1\nprobe(k)"));
    CHECK_FALSE(constant("def f(k=4):\n    probe(k)"));
    CHECK_FALSE(constant("for k in (1, 2):\n    probe(k)"));
    CHECK_FALSE(constant("k = k + 1\nprobe(k)"));
    CHECK_FALSE(constant("k, n = f(x)\nprobe(k)"));
  }

  TEST_CASE("a parameter that papermill replaces is not a constant") {
    const SourceCell parameters{"k = 4", 1, 1, {"parameters"}};
    const SourceCell use{"for i in range(k):\n    pass", 2};
    CHECK_FALSE(SourceView({parameters, use}).loops().at(0).iterations());
    CHECK(SourceView({SourceCell{"k = 4", 1}, use}).loops().at(0).iterations() == 4);
  }

  TEST_CASE("a loop iterations as often as what it is over has elements") {
    CHECK(iterations("k = 4\nfor i in range(k):\n    pass") == 4);
    CHECK(iterations("k = 4\nfor i in range(1, k + 1):\n    pass") == 4);
    CHECK(iterations("for i in range(0, 10, 4):\n    pass") == 3);
    CHECK(iterations("for i, name in enumerate(['test', 'train']):\n    pass") == 2);
    CHECK(iterations("names = ['a', 'b']\nfor name in reversed(names):\n    pass") == 2);
    CHECK(iterations("for a, b in zip(rows, (1, 2, 3)):\n    pass") == 3);
    CHECK(iterations("[x for x in range(5)]") == 5);
  }

  TEST_CASE("unless the list is filled elsewhere") {
    CHECK_FALSE(iterations("names = ['a']\nnames.append(b)\nfor name in names:\n    pass"));
    CHECK_FALSE(iterations("names = []\nfill(names)\nfor name in names:\n    pass"));
    CHECK_FALSE(iterations("for row in enumerate(rows):\n    pass"));
    CHECK_FALSE(iterations("while True:\n    pass"));
  }

  TEST_CASE("a loss is one number, by its function, its reduction, or its pass") {
    for (const char* way :
         {"probe(F.mse_loss(net(x), y))", "crit = nn.MSELoss()\nprobe(crit(net(x), y))",
          "l = f(x)\nl.backward()\nprobe(l)", "probe(net(x).mean())",
          "l = net(x).sum()\nprobe(l / 4 + 1)", "probe(torch.mean(net(x)).detach())",
          "def step(x):\n    return net(x).mean()\nprobe(step(x))"}) {
      CAPTURE(way);
      CHECK(is_scalar(way));
    }
  }

  TEST_CASE("rows of losses, weights and unknown values are not known to be one number") {
    for (const char* way :
         {"probe(net(x))", "probe(net.weight)", "probe(net(x).mean(dim=1))",
          "probe(F.mse_loss(net(x), y, reduction='none'))",
          "crit = nn.MSELoss(reduction='none')\nprobe(crit(net(x), y))",
          "l = net(x).mean()\nprobe(l * net(x))", "l = f(x)\nl.backward(v)\nprobe(l)",
          "probe(unknown)", "l = l + l\nprobe(l)"}) {
      CAPTURE(way);
      CHECK_FALSE(is_scalar(way));
    }
  }
}
