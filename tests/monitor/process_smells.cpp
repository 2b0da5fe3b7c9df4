#include <doctest/doctest.h>

#include <string_view>

#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

std::vector<Finding> detect(std::string_view code, const Holder& holder) {
  SessionView view;
  view.cell = 6;
  view.holders = {holder};
  for (const Smell* smell : all_smells()) {
    if (smell->code == code) return smell->at_run_time(view);
  }
  FAIL("the smell is not in the list");
  return {};
}

Holder futures(std::int64_t bytes) {
  return {"futures", "jobs", bytes, 3, "Future", 7, "jobs.clear()"};
}

}  // namespace

TEST_SUITE("process_smells") {
  TEST_CASE("results kept by futures are a note, and a warning from 64 MiB on") {
    CHECK(detect("XL413", futures(kMiB - 1)).empty());
    const auto few = detect("XL413", futures(64 * kMiB - 1));
    REQUIRE(few.size() == 1);
    CHECK_FALSE(few[0].severity);
    const auto many = detect("XL413", futures(64 * kMiB));
    CHECK(many[0].severity == Severity::warning);
    CHECK(many[0].cause_cell == 3);
    CHECK(many[0].message ==
          "jobs keeps 64 MiB of results alive that were read and that nothing else has (7 × "
          "Future). Free them with `jobs.clear()`.");
  }
}
