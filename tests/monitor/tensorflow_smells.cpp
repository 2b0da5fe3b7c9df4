#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("tensorflow_smells") {
  TEST_CASE("a function that one cell had traced again and again is told by its graphs") {
    const Holder function{"retraced function", "cool", 0, 3, "cool", 8, "del cool;"};
    const auto findings = detect("XL530", function);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK_FALSE(findings[0].severity);
    CHECK(findings[0].fixes[0].code == "del cool;");
    CHECK(findings[0].message.find("`cool` traced again and again; it keeps 8 graphs") !=
          std::string::npos);
  }

  TEST_CASE("functions and methods whose graphs are gone are notes") {
    const Holder method{"retraced method", "apply, from cell 3 on", 0, 3, "apply", 8, ""};
    const Holder function{"rebuilt function", "distil, from cell 4 on", 0, 4, "distil", 6, ""};
    REQUIRE(detect("XL530", method).size() == 1);
    REQUIRE(detect("XL531", function).size() == 1);
    CHECK(detect("XL530", method)[0].severity == Severity::note);
    CHECK(detect("XL531", function)[0].severity == Severity::note);
    CHECK(detect("XL531", method).empty());
  }

  TEST_CASE("constants of a graph are told from a mebibyte on") {
    const Holder large{"graph constants", "look_up", 2 << 20, 5, "float32(2, 3)", 2, ""};
    const Holder small{"graph constants", "look_up", 1 << 19, 5, "float32(2, 3)", 2, ""};
    REQUIRE(detect("XL515", large).size() == 1);
    CHECK(detect("XL515", large)[0].message.find("2 MiB of constants in its 2 graphs") !=
          std::string::npos);
    CHECK(detect("XL515", small).empty());
  }

  TEST_CASE("a default graph grows by the iterations of a loop or by runs of a cell") {
    const Holder iterations{
        "graph of iterations", "the default graph, from cell 2 on", 0, 2, "40", 10, ""};
    const Holder runs{"graph of runs", "the default graph, from cell 2 on", 0, 2, "60", 3, ""};
    CHECK(detect("XL516", iterations)[0].message.find("at least 10 times") != std::string::npos);
    CHECK(detect("XL516", runs)[0].message.find("3 runs of the cell") == 0);
    CHECK(detect("XL516", runs)[0].fixes.empty());
  }

  TEST_CASE("an idle session is told by its name, a lost one without") {
    const Holder idle{"session", "sess", 0, 1, "Session", 1, "sess.close();"};
    const Holder lost{"lost sessions", "interactive sessions, from cell 2 on", 0, 2, "", 2, "x"};
    CHECK(detect("XL506", idle)[0].fixes[0].code == "sess.close();");
    CHECK(detect("XL506", lost)[0].message.find("2 InteractiveSessions are open") == 0);
  }

  TEST_CASE("copies of datasets are told with their bytes") {
    const Holder copies{"dataset copies", "datasets of int64(9,)", 4 << 20, 1, "int64(9,)", 5, ""};
    CHECK(detect("XL504", copies)[0].bytes == 4 << 20);
    CHECK(detect("XL504", copies)[0].fixes.empty());
  }
}
