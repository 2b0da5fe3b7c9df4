#include "probes/process_pages.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace xleak::monitor;

namespace {

constexpr std::int64_t kKiB = 1024;

ProcessPages pages_of(const std::string& smaps, const std::string& malloc_info = "",
                      const std::vector<Segment>& segments = {},
                      const std::vector<ResidentBlock>& blocks = {}) {
  std::istringstream text(smaps);
  return process_pages(text, malloc_info, segments, blocks);
}

ResidentBlock block(std::uintptr_t address, std::int64_t kib) {
  LargeBlock it;
  it.address = address;
  it.bytes = kib * kKiB;
  return {it, it.bytes};
}

std::string arena(int free, int system) {
  return "<heap nr=\"0\"><sizes></sizes><total type=\"fast\" count=\"1\" size=\"0\"/>"
         "<total type=\"rest\" count=\"1\" size=\"" +
         std::to_string(free * kKiB) + "\"/><system type=\"current\" size=\"" +
         std::to_string(system * kKiB) + "\"/></heap>";
}

}  // namespace

TEST_SUITE("process_pages") {
  TEST_CASE("files, what processes share, and the rest are known by their maps") {
    const auto pages = pages_of(
        "5500000-5600000 r-xp 00000000 fd:00 42                /usr/bin/python\nSize: 8 kB\nRss: 4 "
        "kB\n"
        "7f000000-7f100000 rw-s 00000000 00:01 7                 /dev/shm/torch_1\nRss: 16 kB\n"
        "7f200000-7f300000 rw-s 00000000 00:01 7                 /memfd:x (deleted)\nRss: 32 kB\n"
        "7f400000-7f500000 rw-p 00000000 00:00 0 \nRss: 64 kB\n"
        "7fff0000-7fff8000 rw-p 00000000 00:00 0                 [stack]\nRss: 8 kB\n");
    CHECK(pages.files == 4 * kKiB);
    CHECK(pages.shared == 48 * kKiB);
    CHECK(pages.others == 72 * kKiB);
    CHECK(pages.small_heap == 0);
  }

  TEST_CASE("the zeros of a library are its own, an arena behind its file is not") {
    const std::string smaps =
        "7f000000-7f100000 rw-p 00000000 fd:00 42                /usr/lib/libc.so.6\nRss: 4 kB\n"
        "7f100000-7f102000 rw-p 00000000 00:00 0 \nRss: 8 kB\n";
    CHECK(pages_of(smaps).files == 4 * kKiB);
    const auto pages = pages_of(smaps, "", {{0x7f000000, 0x7f102000}});
    CHECK(pages.files == 12 * kKiB);
    CHECK(pages.others == 0);
  }

  TEST_CASE("the C heap is what is free, large blocks, and the small ones") {
    const std::string smaps =
        "5700000-9900000 rw-p 00000000 00:00 0                   [heap]\nRss: 1000 kB\n";
    const auto pages =
        pages_of(smaps, arena(300, 1100), {}, {block(0x1000000, 9), block(0x5800000, 640)});
    // 800 KiB are in use; what was given back to the system is not in memory.
    CHECK(pages.free_heap == 200 * kKiB);
    CHECK(pages.small_heap == 160 * kKiB);
  }

  TEST_CASE("blocks that processes share are no others") {
    const auto pages = pages_of(
        "7f000000-7f100000 rw-s 00000000 00:01 7                 /dev/zero (deleted)\nRss: 128 kB\n"
        "7f400000-7f500000 rw-p 00000000 00:00 0 \nRss: 64 kB\n",
        "", {}, {block(0x7f000000, 128), block(0x7f400000, 64)});
    REQUIRE(pages.blocks.size() == 1);
    CHECK(pages.blocks[0].address == 0x7f400000);
  }

  TEST_CASE("the arena of another thread is known by where it lies") {
    const auto pages = pages_of(
        "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \nRss: 640 kB\n"
        "7f0000100000-7f0004000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
        "7f0008000000-7f0008100000 rw-p 00000000 00:00 0 \nRss: 64 kB\n");
    CHECK(pages.others == 704 * kKiB);
    CHECK(pages.small_heap == 640 * kKiB);
  }
}
