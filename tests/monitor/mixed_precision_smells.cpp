#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("mixed_precision_smells") {
  TEST_CASE("a hundred steps past a scaler are told") {
    const Holder scaler{"scaler without steps", "amp", 0, 3, "torch.amp.GradScaler", 100, ""};
    const auto findings = detect("XL607", scaler);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 3);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find("`amp` scaled a loss and took no step, while weights were "
                                   "written in 100 steps") == 0);
  }

  TEST_CASE("fewer are the check of a few batches") {
    const Holder scaler{"scaler without steps", "amp", 0, 3, "torch.amp.GradScaler", 99, ""};
    CHECK(detect("XL607", scaler).empty());
  }

  TEST_CASE("a scaler that skips tells how many steps it skipped") {
    const Holder scaler{"scaler that skips", "amp", 0, 3, "torch.amp.GradScaler", 27, ""};
    REQUIRE(detect("XL607", scaler).size() == 1);
    CHECK(detect("XL607", scaler)[0].message.find("`amp` skipped 27 steps or more") == 0);
  }

  TEST_CASE("autocast that is left on is told with the code that ends it, where there is one") {
    Holder left{"autocast", "autocast of cpu", 0, 2, "weights", 1, "block.__exit__()"};
    REQUIRE(detect("XL607", left).size() == 1);
    CHECK(detect("XL607", left)[0].fixes[0].code == "block.__exit__()");
    left.release.clear();
    CHECK(detect("XL607", left)[0].fixes.empty());
  }
}
