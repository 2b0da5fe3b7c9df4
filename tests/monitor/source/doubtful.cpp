#include <doctest/doctest.h>

#include <string>

#include "xleak/monitor/lint.hpp"

using namespace xleak::monitor;

namespace {

bool is_doubtful(const std::string& text) {
  const SourceReport report = lint({{text}});
  return !report.doubtful.empty() && report.doubtful.front().may_be_refused;
}

}  // namespace

TEST_SUITE("cells that only CPython can judge") {
  TEST_CASE("an error of the grammar is doubtful, and what only Python 2 allows") {
    for (const char* text :
         {"x = (1", "print 'a'", "exec 'x'", "a <> b", "try:\n  f()\nexcept A, b:\n  pass"}) {
      CAPTURE(text);
      CHECK(is_doubtful(text));
    }
    CHECK(is_doubtful(std::string("x = 1  # \0", 10)));
  }

  TEST_CASE("what the grammar accepts and Python refuses is doubtful") {
    for (const char* text :
         {"def f():\nx = 1", "x = 1\n  y = 2", "f(a=1, b)", "  x = 1", "if a:\n  b()\n    c()"}) {
      CAPTURE(text);
      CHECK(is_doubtful(text));
    }
  }

  TEST_CASE("everyday code is not doubtful") {
    for (const char* text :
         {"f(a=1, *b, **c)", "x = 1; y = 2", "if a: b = 1; c = 2", "class A(B, metaclass=M): pass",
          "%matplotlib inline\n!ls\nx?", "print('a')\nprint >= 3", "x = [\n1,\n  2]",
          "try:\n  f()\nexcept (A, B) as c:\n  pass", "def f():\n\tx = 1\n\treturn x",
          "f(a=1, **{'b': 2})", "@d\ndef f():\n  pass"}) {
      CAPTURE(text);
      CHECK_FALSE(is_doubtful(text));
    }
  }

  TEST_CASE("the text of a doubtful cell has its characters where they were") {
    const SourceReport report = lint({{"%cd x\n# é\nx = (1", 1}, {"y = 2", 2}});
    REQUIRE(report.doubtful.size() == 1);
    CHECK(report.doubtful[0].cell == 1);
    CHECK(report.doubtful[0].python == "pass \n    \nx = (1");
  }

  TEST_CASE("where something is nested too deeply to be read, its line is known") {
    std::string sum = "x = 1\ny = a";
    for (int i = 0; i < 2000; ++i) sum += " + a";
    const SourceReport report = lint({{sum}});
    REQUIRE(report.doubtful.size() == 1);
    CHECK(report.doubtful[0].cut_line == 2);
    CHECK_FALSE(report.doubtful[0].may_be_refused);
  }
}
