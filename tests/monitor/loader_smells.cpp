#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder cycle(std::int64_t bytes, const char* release) {
  return {"cycle", "stream", bytes, 3, "batches", 5, release};
}

}  // namespace

TEST_SUITE("loader_smells") {
  TEST_CASE("a cycle is told with its batches and what to type") {
    const auto findings = detect("XL304", cycle(8 * kMiB, "del stream"));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 8 * kMiB);
    CHECK(findings[0].cause_cell == 3);
    CHECK(findings[0].fixes[0].code == "del stream");
    CHECK(findings[0].message.find("keeps 5 batches, 8 MiB") != std::string::npos);
    CHECK(findings[0].message.find("Free them with `del stream`") != std::string::npos);
  }

  TEST_CASE("where no code is exact a cycle is told without any") {
    const auto findings = detect("XL304", cycle(kMiB, ""));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].message.find("Free them") == std::string::npos);
  }

  TEST_CASE("a cycle of little is no leak") {
    CHECK(detect("XL304", cycle(kMiB - 1, "del stream")).empty());
  }
}
