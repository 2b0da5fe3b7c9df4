#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

bool in_loop(const std::string& code) {
  return Cells({code}).calls_to({"torch.cat"}).at(0).in_loop();
}
bool no_grad(const std::string& code) {
  return Cells({"import torch\n" + code}).calls_to({"torch.cat"}).at(0).under_no_grad();
}

}  // namespace

TEST_SUITE("what runs where") {
  TEST_CASE("bodies of loops and what comprehensions collect run many times") {
    CHECK(in_loop("import torch\nfor x in y:\n    torch.cat(x)"));
    CHECK(in_loop("import torch\nwhile torch.cat(x):\n    pass"));
    CHECK(in_loop("import torch\nr = [torch.cat(x) for x in y]"));
    CHECK(in_loop("import torch\nr = [a for x in y for a in torch.cat(x)]"));
  }

  TEST_CASE("an iterable and an else clause run once") {
    CHECK_FALSE(in_loop("import torch\nfor x in torch.cat(y):\n    pass"));
    CHECK_FALSE(in_loop("import torch\nfor x in y:\n    pass\nelse:\n    torch.cat(x)"));
    CHECK_FALSE(in_loop("import torch\nr = [x for x in torch.cat(y)]"));
  }

  TEST_CASE("a function that is called in a loop runs many times, two calls deep") {
    CHECK(in_loop("import torch\ndef f(x):\n    torch.cat(x)\nfor x in y:\n    f(x)"));
    CHECK(in_loop(
        "import torch\ndef f(x):\n    torch.cat(x)\ndef g(x):\n    f(x)\nfor x in y:\n    g(x)"));
    CHECK_FALSE(in_loop("import torch\ndef f(x):\n    torch.cat(x)\nf(x)"));
    CHECK_FALSE(in_loop("import torch\nfor x in y:\n    def f(x):\n        torch.cat(x)"));
  }

  TEST_CASE("gradients are off in every way that torch offers") {
    CHECK(no_grad("with torch.no_grad():\n    torch.cat(x)"));
    CHECK(no_grad("with open(p) as f, torch.inference_mode():\n    torch.cat(x)"));
    CHECK(no_grad("with torch.set_grad_enabled(False):\n    torch.cat(x)"));
    CHECK(no_grad("@torch.no_grad()\ndef f(x):\n    torch.cat(x)"));
    CHECK(no_grad("@torch.no_grad\ndef f(x):\n    torch.cat(x)"));
    CHECK(no_grad("def f(x):\n    torch.cat(x)\nwith torch.no_grad():\n    f(x)"));
    CHECK(no_grad("torch.set_grad_enabled(False)\ntorch.cat(x)"));
  }

  TEST_CASE("and on where one way leads in with them on") {
    CHECK_FALSE(no_grad("with torch.set_grad_enabled(True):\n    torch.cat(x)"));
    CHECK_FALSE(no_grad("def f(x):\n    torch.cat(x)\nf(x)\nwith torch.no_grad():\n    f(x)"));
    CHECK_FALSE(
        no_grad("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\ntorch.cat(x)"));
    CHECK_FALSE(no_grad("with torch.no_grad():\n    pass\ntorch.cat(x)"));
  }

  TEST_CASE("a literal range and a literal list say how often a loop iterations") {
    const Cells code(
        {"for i in range(5):\n    pass\nfor i in range(2, 9):\n    pass\n"
         "for i in (1, 2):\n    pass\nfor i in range(n):\n    pass\nfor i in [*a]:\n    pass\n"});
    const auto& loops = code.loops();
    REQUIRE(loops.size() == 5);
    CHECK(loops[0].iterations() == 5);
    CHECK(loops[1].iterations() == 7);
    CHECK(loops[2].iterations() == 2);
    CHECK_FALSE(loops[3].iterations());
    CHECK_FALSE(loops[4].iterations());
  }
}
