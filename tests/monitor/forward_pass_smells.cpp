#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder graph(const char* kind, std::int64_t bytes) {
  return {kind, "answer", bytes, 3, "autograd graph", 1, "answer = answer.detach()"};
}

}  // namespace

TEST_SUITE("forward_pass_smells") {
  TEST_CASE("an evaluation is told with what it keeps, its cell and what to type") {
    const auto findings = detect("XL201", graph("evaluations", 3 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 3);
    CHECK(findings[0].bytes == 3 * kMiB);
    CHECK_FALSE(findings[0].severity);
    CHECK(findings[0].fixes[0].code == "answer = answer.detach()");
    CHECK(findings[0].message.find("its autograd graph keeps 3 MiB of activations alive") !=
          std::string::npos);
  }

  TEST_CASE("a prediction of one pass is a note, those of a loop are not") {
    CHECK(detect("XL202", graph("one prediction", 3 * kMiB))[0].severity == Severity::note);
    CHECK_FALSE(detect("XL202", graph("predictions", 3 * kMiB))[0].severity);
  }

  TEST_CASE("a derivative that is kept is more than a note") {
    CHECK(detect("XL209", graph("last derivatives", 3 * kMiB))[0].severity == Severity::warning);
  }

  TEST_CASE("each is one smell's alone, from 1 MiB on") {
    for (const char* kind : {"evaluations", "predictions", "one prediction", "last derivatives"}) {
      std::size_t found = 0;
      for (const char* code : {"XL201", "XL202", "XL206", "XL208", "XL209"}) {
        found += detect(code, graph(kind, kMiB)).size();
        CHECK(detect(code, graph(kind, kMiB - 1)).empty());
      }
      CHECK(found == 1);
    }
  }
}
