#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder doubled(int percent) {
  return {"doubled peak", "scans", 96 * kMiB, 5, "scans", percent, "del scans"};
}

Holder free_heap(std::int64_t bytes) {
  return {"free heap", "the C heap", bytes, 4, "free blocks", 1, "%release_cache --heap"};
}

}  // namespace

TEST_SUITE("rerun_smells") {
  TEST_CASE("a doubled peak promises no bytes and says what to write") {
    const auto findings = detect("XL411", doubled(12));
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].cause_cell == 5);
    CHECK(findings[0].fixes[0].code == "del scans");
    CHECK(findings[0].message.find("Write `del scans` above") != std::string::npos);
  }

  TEST_CASE("near the limit of the memory it is a warning") {
    CHECK_FALSE(detect("XL411", doubled(79))[0].severity);
    CHECK(detect("XL411", doubled(80))[0].severity == Severity::warning);
  }

  TEST_CASE("free memory of the C heap is told from 256 MiB on") {
    CHECK(detect("XL630", free_heap(256 * kMiB - 1)).empty());
    const auto findings = detect("XL630", free_heap(256 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 256 * kMiB);
    CHECK(findings[0].cause_cell == 4);
  }
}
