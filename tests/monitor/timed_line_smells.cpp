#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder timed(const char* kind, int percent) {
  return {kind, "line 4 of cell 3", 0, 2, "1.2 s, so much of the time of cell 3", percent, ""};
}

}  // namespace

TEST_SUITE("timed_line_smells") {
  TEST_CASE("a loop without a way out is told with what the process grew by") {
    const Holder loop{"endless loop", "line 4 of cell 3", 80 * kMiB, 3, "5 MiB a minute", 16, ""};
    const auto found = detect("XL303", loop);
    REQUIRE(found.size() == 1);
    CHECK(found[0].bytes == 80 * kMiB);
    CHECK(found[0].message ==
          "The loop at line 4 of cell 3 has run for 16 min without a way out, and the process "
          "grows by 5 MiB a minute: 80 MiB so far. Interrupt the cell, and count the iterations or "
          "leave the loop by a condition.");
  }

  TEST_CASE("a line is told from its rule's share of the time on, as a note without bytes") {
    struct Row {
      const char* code;
      const char* kind;
      int least_percent;
    };
    for (const Row& row : {Row{"XL116", "strided view", 10}, Row{"XL605", "device transfer", 10},
                           Row{"XL609", "device sync", 5}, Row{"XL610", "loader wait", 20}}) {
      CAPTURE(row.code);
      CHECK(detect(row.code, timed(row.kind, row.least_percent - 1)).empty());
      const auto found = detect(row.code, timed(row.kind, row.least_percent));
      REQUIRE(found.size() == 1);
      CHECK_FALSE(found[0].severity);
      CHECK_FALSE(found[0].bytes);
      CHECK(found[0].cause_cell == 2);
      CHECK(found[0].fixes.empty());
      for (const char* part : {"line 4 of cell 3", "1.2 s, so much of the time of cell 3"}) {
        CHECK(found[0].message.find(part) != std::string::npos);
      }
    }
  }
}
