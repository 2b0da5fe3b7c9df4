#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder traces(int count, std::int64_t bytes) {
  return {"traces", "TorchScript's compilation unit, from cell 4 on", bytes, 4, "constants", count,
          ""};
}

Holder recompilations(int count) {
  return {"recompilations", "torch.compile, from cell 2 on", 0, 2, "8", count, ""};
}

}  // namespace

TEST_SUITE("compiled_smells") {
  TEST_CASE("dropped traces are told with their bytes, and no code that would end the kernel") {
    const auto findings = detect("XL301", traces(5, 20 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 20 * kMiB);
    CHECK(findings[0].cause_cell == 4);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].message.find("5 functions that were traced and dropped keep 20 MiB") == 0);
  }

  TEST_CASE("two traces, or three of little, are no leak") {
    CHECK(detect("XL301", traces(3, kMiB)).size() == 1);
    CHECK(detect("XL301", traces(2, 20 * kMiB)).empty());
    CHECK(detect("XL301", traces(3, kMiB - 1)).empty());
  }

  TEST_CASE("functions past the limit are a warning that promises no bytes") {
    const auto findings = detect("XL322", recompilations(1));
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].severity == Severity::warning);
    CHECK(findings[0].cause_cell == 2);
    CHECK(findings[0].message.find("One function was compiled 8 times") == 0);
    CHECK(detect("XL322", recompilations(3))[0].message.find("3 functions were compiled") == 0);
    CHECK(detect("XL322", recompilations(0)).empty());
  }
}
