#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

/// Whether the first name that is bound reaches a backward pass.
bool led_back(const std::string& code) {
  const Cells cells({code});
  REQUIRE(!cells.assignments().empty());
  const Expr left = cells.assignments().front().child(source::Field::left);
  return cells.reaches_backward(left.place());
}

}  // namespace

TEST_SUITE("what is led back") {
  TEST_CASE("by itself, in a sum, and by functions of frameworks") {
    CHECK(led_back("l = f(x)\nl.backward()"));
    CHECK(led_back("l = f(x)\nt = l + 1\n(t / 2).backward()"));
    CHECK(led_back("l = f(x)\nscaler.scale(l).backward()"));
    CHECK(led_back("l = f(x)\naccelerator.backward(l)"));
    CHECK(led_back("l = f(x)\nself.manual_backward(l)"));
  }

  TEST_CASE("by way of a list, a loop over it, and a function") {
    CHECK(led_back("l = f(x)\nparts = []\nparts.append(l)\nsum(parts).backward()"));
    CHECK(led_back(
        "c = []\no = []\nfor p, r in zip(c, rs):\n    o.append(p * r)\nsum(o).backward()"));
    CHECK(led_back("l = f(x)\ndef step(loss):\n    loss.backward()\nstep(l)"));
    CHECK(led_back("def f(x):\n    l = g(x)\n    return l\nf(1).backward()"));
  }

  TEST_CASE("what is only kept or printed is not") {
    CHECK_FALSE(led_back("l = f(x)\nlosses.append(l)\nplot(losses)"));
    CHECK_FALSE(led_back("l = f(x)\nprint(l)\nother.backward()"));
    CHECK_FALSE(led_back("a = b\nb = a"));
  }
}
