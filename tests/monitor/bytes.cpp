#include "xleak/monitor/bytes.hpp"

#include <doctest/doctest.h>

#include <limits>

using xleak::monitor::human;

TEST_SUITE("bytes") {
  TEST_CASE("whole sizes have no decimals") {
    CHECK(human(0) == "0 B");
    CHECK(human(1023) == "1023 B");
    CHECK(human(1024) == "1 KiB");
    CHECK(human(64 << 20) == "64 MiB");
  }

  TEST_CASE("below a hundred there is one decimal, above none") {
    CHECK(human(3LL << 29) == "1.5 GiB");
    CHECK(human((15LL << 30) + (1 << 28)) == "15.3 GiB");
    CHECK(human((512 << 20) + (300 << 10)) == "512 MiB");
  }

  TEST_CASE("what rounds up to the next unit is shown in it") {
    CHECK(human((1 << 20) - 1) == "1 MiB");
    CHECK(human(1023 * 1024 + 511) == "1023 KiB");
  }

  TEST_CASE("the smallest and largest numbers can be shown") {
    CHECK(human(-(3 << 10)) == "-3 KiB");
    CHECK(human(std::numeric_limits<std::int64_t>::max()) == "8 EiB");
    CHECK(human(std::numeric_limits<std::int64_t>::min()) == "-8 EiB");
  }
}
