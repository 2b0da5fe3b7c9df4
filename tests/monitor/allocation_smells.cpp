#include <doctest/doctest.h>

#include <array>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("allocation_smells") {
  TEST_CASE("blocks that came and went are told without bytes, since none is kept") {
    const Holder scratch{"scratch", "`torch.zeros(n)`", 240 * kMiB, 3, "2 MiB", 120, ""};
    const auto findings = detect("XL114", scratch);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].cause_cell == 3);
    CHECK(findings[0].message.find("120 blocks of its 2 MiB came and went while the cell ran, "
                                   "240 MiB together") != std::string::npos);
  }

  TEST_CASE("so is a chain") {
    const Holder chain{"chain", "volume in cell 3", 70 * kMiB, 3, "70 MiB", 4, ""};
    const auto findings = detect("XL117", chain);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find("volume in cell 3 was made again by 4 statements") == 0);
  }

  TEST_CASE("a square is told by what made its column, from 1 MiB on") {
    for (const auto& [kind, code, other] :
         {std::array{"square", "XL115", "XL111"}, std::array{"kept axis", "XL111", "XL115"}}) {
      const Holder square{kind, "`gap = a - b`", 4 * kMiB, 3, "4 MiB", 1, ""};
      REQUIRE(detect(code, square).size() == 1);
      CHECK(detect(code, square)[0].bytes == 4 * kMiB);
      CHECK(detect(other, square).empty());
      const Holder small{kind, "`gap = a - b`", kMiB - 1, 3, "1 MiB", 1, ""};
      CHECK(detect(code, small).empty());
    }
  }
}
