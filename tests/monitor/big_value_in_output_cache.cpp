#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

std::vector<Finding> judged(const OutputEntry& entry, std::optional<std::int64_t> ram = {}) {
  SessionView view;
  view.cell = 6;
  view.ram_bytes = ram;
  view.outputs = {entry};
  return detect("XL401", view);
}

OutputEntry entry(std::int64_t bytes, bool mentioned = false) {
  return {4, 5, bytes, mentioned, "Tensor", {"Out[4]", "_4"}};
}

}  // namespace

TEST_SUITE("big_value_in_output_cache") {
  TEST_CASE("the finding names the cell, the bytes, who holds them and what to type") {
    const auto findings = judged(entry(64 * kMiB));
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.cell == 6);
    CHECK(finding.cause_cell == 5);
    CHECK(finding.bytes == 64 * kMiB);
    CHECK(finding.holders == std::vector<std::string>{"Out[4]", "_4"});
    CHECK(finding.path == std::vector<std::string>{"Out", "[4]", "Tensor"});
    CHECK(finding.key == "Out[4]");
    CHECK(finding.message ==
          "Out[4] alone keeps 64 MiB alive (Tensor); nothing else names it. "
          "Free it with `%xdel Out[4]`, or end the cell with `;`.");
    REQUIRE(finding.fixes.size() == 1);
    CHECK(finding.fixes[0].code == "%xdel Out[4]");
  }

  TEST_CASE("entries that lead to the same memory are named, and go together") {
    OutputEntry shared = entry(64 * kMiB);
    shared.together = {7};
    const Finding two = judged(shared)[0];
    CHECK(two.message ==
          "Out[4] and Out[7] together keep 64 MiB alive (Tensor); nothing else names it. "
          "Free it with `%xdel Out[4] Out[7]`, or end the cell with `;`.");
    CHECK(two.fixes[0].code == "%xdel Out[4] Out[7]");
    CHECK(two.key == "Out[4]");
    shared.together = {7, 9};
    const Finding more = judged(shared)[0];
    CHECK(more.message.find("Out[4] and 2 other output entries together keep") == 0);
    CHECK(more.fixes[0].code == "%xdel Out[4] Out[7] Out[9]");
  }

  TEST_CASE("the finding names the line whose value was shown") {
    OutputEntry shown = entry(64 * kMiB);
    shown.line = 3;
    CHECK(judged(shown)[0].line == 3);
  }

  TEST_CASE("it is reported from 1 MiB on") {
    CHECK(judged(entry(kMiB)).size() == 1);
    CHECK(judged(entry(kMiB - 1)).empty());
  }

  TEST_CASE("an output that the source uses is not a leak") {
    CHECK(judged(entry(64 * kMiB, true)).empty());
  }

  TEST_CASE("a tenth of the machine is an error") {
    CHECK(judged(entry(64 * kMiB), 640 * kMiB)[0].severity == Severity::error);
    CHECK(judged(entry(64 * kMiB), 641 * kMiB)[0].severity == Severity::warning);
  }

  TEST_CASE("a machine of unknown size makes no error of it") {
    CHECK(judged(entry(64 * kMiB))[0].severity == Severity::warning);
  }
}
