#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("copy_smells") {
  TEST_CASE("a tensor grown by concatenation promises no bytes and says what was copied") {
    const auto findings =
        detect("XL110", {"grown by cat", "`x = torch.cat(…)`", 195 * kMiB, 5, "10 MiB", 39, ""});
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].cause_cell == 5);
    CHECK(findings[0].message.find("ran 39 times: 195 MiB") != std::string::npos);
    CHECK(findings[0].message.find("a result of 10 MiB") != std::string::npos);
  }

  TEST_CASE("a holder of another kind is not its") {
    CHECK(detect("XL110", {"doubled peak", "x", 195 * kMiB, 5, "x", 39, "del x"}).empty());
  }
}
