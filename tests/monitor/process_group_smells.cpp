#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("process_group_smells") {
  TEST_CASE("groups that runs left are told by their number, without bytes or code") {
    const Holder groups{
        "process groups", "torch.distributed, from cell 2 on", 0, 2, "2 runs", 6, ""};
    const auto findings = detect("XL302", groups);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].cause_cell == 2);
    CHECK(findings[0].message.find("2 runs of the cell left 6 process groups behind") == 0);
  }

  TEST_CASE("threads are another smell's") {
    const Holder threads{"threads", "worker", 0, 2, "Thread", 6, ""};
    CHECK(detect("XL302", threads).empty());
  }
}
