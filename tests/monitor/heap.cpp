#include "probes/heap.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "xleak/monitor/error.hpp"

using namespace xleak::monitor;

TEST_SUITE("heap") {
  TEST_CASE("a block of malloc is in use until it is freed") {
    const auto before = try_read_heap();
    // A sanitizer brings a malloc of its own, which mallinfo2 does not see.
    if (!before) {
      CHECK_THROWS_AS(read_heap(), Error);
      return;
    }
    constexpr std::size_t kSize = 64U << 20;
    void* block = std::malloc(kSize);
    REQUIRE(block != nullptr);
    std::memset(block, 1, kSize);
    const auto during = read_heap();
    std::free(block);
    const auto after = read_heap();
    CHECK(during.used_bytes - before->used_bytes >= static_cast<std::int64_t>(kSize));
    CHECK(during.used_bytes - before->used_bytes < static_cast<std::int64_t>(kSize) + 4096 * 2);
    CHECK(after.used_bytes - before->used_bytes < 4096);
  }

  TEST_CASE("trimming returns no less than nothing") { CHECK(trim_heap() >= 0); }
}
