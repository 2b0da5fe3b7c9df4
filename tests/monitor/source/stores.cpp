#include <doctest/doctest.h>

#include <algorithm>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

bool bounded(const std::string& code) {
  const Cells cells({code});
  REQUIRE(!cells.stores().empty());
  return cells.is_bounded(cells.stores().front());
}

std::size_t stores(const std::string& code) { return Cells({code}).stores().size(); }

}  // namespace

TEST_SUITE("what is put into containers") {
  TEST_CASE("every way to put something somewhere is one") {
    for (const char* way :
         {"c.append(x)", "c.add(x)", "c.insert(0, x)", "c[k] = x", "c += [x]", "c.setdefault(k, x)",
          "c.update(k=x)", "c = [x for x in y]", "c['a']['b'] = x"}) {
      CAPTURE(way);
      CHECK(stores(way) == 1);
    }
    CHECK(stores("c.append((a, b))") == 2);
    CHECK(stores("import torch\ntorch.add(x)") == 0);
  }

  TEST_CASE("the fields of a record are stored with it") {
    for (const char* record :
         {"from dataclasses import dataclass\n@dataclass\nclass R:\n    a: int\n    b: int\n",
          "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass R:\n    a: int\n",
          "from typing import NamedTuple\nclass R(NamedTuple):\n    a: int\n    b: int\n",
          "from collections import namedtuple\nR = namedtuple('R', 'a b')\n"}) {
      CAPTURE(record);
      CHECK(stores(record + std::string("c.append(R(1, b=x))")) == 2);
    }
    CHECK(stores("class R:\n    pass\nc.append(R(1, x))") == 1);
  }

  TEST_CASE("a container stays small where something takes elements out again") {
    const std::string loop =
        "from collections import deque\nc = []\nfor x in y:\n    c.append(x)\n";
    CHECK(bounded(loop + "    c.pop(0)"));
    CHECK(bounded(loop + "    if len(c) > 5:\n        c.clear()"));
    CHECK(bounded(loop + "    del c[:-5]"));
    CHECK(bounded(loop + "    c[:] = c[-5:]"));
    CHECK(bounded("for e in z:\n    c = []\n    for x in y:\n        c.append(x)"));
    CHECK(bounded(
        "from collections import deque\nc = deque(maxlen=5)\nfor x in y:\n    c.append(x)"));
    CHECK(bounded("for i, x in y:\n    c[i % 5] = x"));
    CHECK(bounded("for x in range(5):\n    c.append(x)"));
    CHECK_FALSE(bounded(loop));
    CHECK_FALSE(bounded(loop + "c.clear()"));
    CHECK_FALSE(
        bounded("from collections import deque\nc = deque()\nfor x in y:\n    c.append(x)"));
  }

  TEST_CASE("the same elements written again, and what another method empties, stay small") {
    CHECK(bounded("c = {}\nfor x in y:\n    c['last'] = x"));
    CHECK(
        bounded("class A:\n    def add(self, x):\n        self.c.append(x)\n"
                "    def reset(self):\n        self.c.clear()"));
    CHECK_FALSE(
        bounded("class A:\n    def __init__(self):\n        self.c = []\n"
                "    def add(self, x):\n        self.c.append(x)"));
  }

  TEST_CASE("what a call adds is a store only where its result is not wanted") {
    CHECK(stores("y = module.add(x)") == 0);
    CHECK(stores("module.add(x)") == 1);
    CHECK(stores("buffer.push(x, reward=r)") == 2);
  }

  TEST_CASE("a method of the program is a store only where it puts something into something") {
    const auto called = [](const std::string& body) {
      const Cells cells({"class Sum:\n    def add(self, x):\n        " + body +
                         "\nsum = Sum()\nfor x in y:\n    sum.add(x)\n"});
      const auto& all = cells.stores();
      return std::any_of(all.begin(), all.end(),
                         [](const Store& store) { return store.container.text() == "sum"; });
    };
    CHECK(called("self.all.append(x)"));
    CHECK(called("self.all[self.next] = x"));
    CHECK(called("self.all += [x]"));
    CHECK_FALSE(called("self.total = self.total + x"));
    CHECK_FALSE(called("self.total += x"));
    CHECK_FALSE(called("return x + 1"));
  }

  TEST_CASE("loops over layers, parameters and few literals are over parts") {
    const auto is_over_parts = [](const std::string& head, const std::string& body) {
      return Cells({"import torch\nnet = torch.nn.Linear(3, 4)\n" + head + "\n    " + body})
          .loops()
          .at(0)
          .is_over_parts();
    };
    CHECK(is_over_parts("for p in net.parameters():", "f(p)"));
    CHECK(is_over_parts("for layer in layers:", "x = layer(x)"));
    CHECK(is_over_parts("for scale in (1, 2, 4):", "f(scale)"));
    CHECK_FALSE(is_over_parts("for batch in loader:", "net(batch)"));
  }
}
