#include "device_use.hpp"

#include <doctest/doctest.h>

using namespace xleak::monitor;

TEST_SUITE("device_use") {
  TEST_CASE("kept is what is allocated after minus before") {
    const auto uses = device_use({{"cuda:0", 100, 200, 150}}, {{"cuda:0", 70, 300, 150}});
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].device == "cuda:0");
    CHECK(uses[0].allocated_kept_bytes == -30);
    CHECK(uses[0].reserved_bytes == 300);
  }

  TEST_CASE("a mark that rose is the cell's peak") {
    CHECK(device_use({{"cuda:0", 1, 1, 150}}, {{"cuda:0", 1, 1, 151}})[0].allocated_peak_bytes ==
          151);
  }

  TEST_CASE("a mark that did not rise says nothing of this cell") {
    CHECK_FALSE(
        device_use({{"cuda:0", 1, 1, 150}}, {{"cuda:0", 1, 1, 150}})[0].allocated_peak_bytes);
    CHECK_FALSE(device_use({{"cuda:0", 1, 1, 150}}, {{"cuda:0", 1, 1, 9}})[0].allocated_peak_bytes);
  }

  TEST_CASE("a peak that was followed is the cell's, whatever the mark says") {
    DeviceReading after{"cuda:0", 1, 1, 150, 0, 9, 40};
    CHECK(device_use({{"cuda:0", 1, 1, 150}}, {after})[0].allocated_peak_bytes == 40);
    // The user set the mark back within the cell: it rose above a part of it.
    CHECK(device_use({{"cuda:0", 1, 1, 5}}, {{"cuda:0", 1, 1, 30, 0, 9, 40}})[0]
              .allocated_peak_bytes == 40);
  }

  TEST_CASE("where the framework came with the cell all of it is the cell's") {
    const auto uses = device_use({}, {{"cuda:0", 70, 300, 90}});
    CHECK(uses[0].allocated_kept_bytes == 70);
    CHECK(uses[0].allocated_peak_bytes == 90);
  }

  TEST_CASE("a device that only later gave a reading had an unknown one before") {
    const auto uses = device_use({{"cuda:0", 1, 1, 1}}, {{"cuda:0", 1, 1, 1}, {"cuda:1", 5, 5, 5}});
    REQUIRE(uses.size() == 2);
    CHECK(uses[1].device == "cuda:1");
    CHECK_FALSE(uses[1].allocated_kept_bytes);
    CHECK_FALSE(uses[1].allocated_peak_bytes);
    CHECK(uses[1].reserved_bytes == 5);
  }

  TEST_CASE("a device that gives no reading any more is unknown, not gone") {
    const auto uses = device_use({{"cuda:0", 1, 1, 1}}, {});
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].device == "cuda:0");
    CHECK_FALSE(uses[0].allocated_kept_bytes);
    CHECK_FALSE(uses[0].reserved_bytes);
  }

  TEST_CASE("a number that the framework does not report stays unknown") {
    const auto uses = device_use({{"mps:0", std::nullopt, std::nullopt, std::nullopt}},
                                 {{"mps:0", 10, std::nullopt, 20}});
    CHECK_FALSE(uses[0].allocated_kept_bytes);
    CHECK_FALSE(uses[0].allocated_peak_bytes);
    CHECK_FALSE(uses[0].reserved_bytes);
  }
}
