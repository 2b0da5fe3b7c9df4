#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>

#include "probes/high_water.hpp"
#include "probes/resident.hpp"
#include "probes/usage.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::size_t kSize = 8U << 20;
// The kernel may keep the last steps of a counter with each CPU or thread.
constexpr std::int64_t kCounterStep = 1 << 20;

void* touched_pages() {
  void* pages = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  std::memset(pages, 1, kSize);
  return pages;
}

}  // namespace

TEST_SUITE("resident") {
  TEST_CASE("reads the second field as pages") {
    CHECK(parse_statm_resident("765 444 416 5 0 123 0\n", 4096) == 444 * 4096);
    CHECK(parse_statm_resident("1 2", 16384) == 2 * 16384);
  }

  TEST_CASE("malformed text is no reading, never a zero") {
    CHECK_FALSE(parse_statm_resident("", 4096));
    CHECK_FALSE(parse_statm_resident("765", 4096));
    CHECK_FALSE(parse_statm_resident("765 ", 4096));
    CHECK_FALSE(parse_statm_resident("765 x 1", 4096));
    CHECK_FALSE(parse_statm_resident("765 -4 1", 4096));
    CHECK_FALSE(parse_statm_resident("765 99999999999999999999 1", 4096));
  }

  TEST_CASE("touching 8 MiB shows up in the live reading") {
    const Resident resident;
    const auto before = resident.read();
    void* pages = touched_pages();
    const auto after = resident.read();
    ::munmap(pages, kSize);
    REQUIRE(before);
    REQUIRE(after);
    CHECK(*after - *before >= static_cast<std::int64_t>(kSize) - kCounterStep);
  }
}

TEST_SUITE("high_water") {
  TEST_CASE("reads kibibytes as bytes") {
    CHECK(parse_high_water("VmPeak:\t 9000 kB\nVmHWM:\t     12 kB\nVmRSS:\t 8 kB\n") == 12 * 1024);
  }

  TEST_CASE("a missing or malformed line is no reading, never a zero") {
    CHECK_FALSE(parse_high_water("VmRSS:\t 8 kB\n"));
    CHECK_FALSE(parse_high_water("HugeVmHWM:\t 8 kB\n"));
    CHECK_FALSE(parse_high_water("VmHWM:"));
    CHECK_FALSE(parse_high_water("VmHWM:\t kB\nVmRSS:\t 8 kB\n"));
    CHECK_FALSE(parse_high_water("VmHWM:\t 99999999999999999999 kB\n"));
  }

  TEST_CASE("a key inside another word is skipped, not taken for an end") {
    CHECK(parse_high_water("HugeVmHWM:\t 8 kB\nVmHWM:\t 3 kB\n") == 3 * 1024);
  }

  TEST_CASE("the live mark stays after the memory is gone") {
    const HighWater mark;
    const Resident resident;
    const auto before = resident.read();
    ::munmap(touched_pages(), kSize);
    REQUIRE(before);
    CHECK(mark.read().value() >= *before + static_cast<std::int64_t>(kSize) - kCounterStep);
  }
}

TEST_SUITE("usage") {
  TEST_CASE("touching fresh pages counts as minor faults and costs processor time") {
    const Usage before = read_usage();
    // Huge pages would take a few faults for all of it; these are small ones.
    void* pages =
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    ::madvise(pages, kSize, MADV_NOHUGEPAGE);
    std::memset(pages, 1, kSize);
    ::munmap(pages, kSize);
    const Usage after = read_usage();
    CHECK(after.minor_faults - before.minor_faults >= static_cast<std::int64_t>(kSize / 65536));
    CHECK(after.cpu_seconds > before.cpu_seconds);
  }
}
