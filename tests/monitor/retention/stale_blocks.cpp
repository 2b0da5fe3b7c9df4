#include "retention/stale_blocks.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "retention/resident_pages.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::uintptr_t kInUse = 1;
constexpr std::uintptr_t kMapped = 2;

/// Pages in which a case writes the headers that glibc would.
class FakeHeap {
 public:
  FakeHeap()
      : memory_(
            ::mmap(nullptr, 8 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    ::madvise(memory_, 8 * kMiB, MADV_NOHUGEPAGE);
  }
  ~FakeHeap() { ::munmap(memory_, 8 * kMiB); }
  FakeHeap(const FakeHeap&) = delete;
  FakeHeap& operator=(const FakeHeap&) = delete;

  std::uintptr_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(memory_) + offset;
  }
  void header(std::size_t offset, std::uintptr_t value) const {
    std::memcpy(reinterpret_cast<void*>(address(offset) - 8), &value, sizeof value);
  }
  /// A block of 1 MiB and its neighbour's word on whether it is in use.
  KnownBlock block(std::size_t offset, bool in_use = true, std::uint32_t order = 1) const {
    header(offset, (kMiB + 16) | kInUse);
    header(offset + kMiB + 16, 4096 | (in_use ? kInUse : 0));
    return {address(offset), kMiB, BlockKind::heap, 0, order, 0, 0};
  }

 private:
  void* memory_;
};

std::size_t stale_among(std::vector<KnownBlock> blocks) { return take_out_stale(blocks).size(); }

}  // namespace

TEST_SUITE("stale_blocks") {
  TEST_CASE("a block with its header and a neighbour that says so is alive") {
    const FakeHeap heap;
    CHECK(stale_among({heap.block(16)}) == 0);
  }

  TEST_CASE("a block whose neighbour says that it is free is stale") {
    const FakeHeap heap;
    CHECK(stale_among({heap.block(16, /*in_use=*/false)}) == 1);
  }

  TEST_CASE("a header of another size is not the block's") {
    const FakeHeap heap;
    const KnownBlock block = heap.block(16);
    for (const std::uintptr_t size : {std::size_t{0}, std::size_t{32}, kMiB - 16, 2 * kMiB}) {
      heap.header(16, size | kInUse);
      CHECK(stale_among({block}) == 1);
    }
  }

  TEST_CASE(
      "a block with pages of its own needs no neighbour, and may have its alignment behind it") {
    const FakeHeap heap;
    KnownBlock block = heap.block(16, /*in_use=*/false);
    heap.header(16, (kMiB + 4096) | kMapped);
    CHECK(stale_among({block}) == 0);
    const std::uintptr_t begin = heap.address(0);
    const std::size_t aligned = (begin + 2 * kMiB) / kMiB * kMiB - begin;
    block = heap.block(aligned, /*in_use=*/false);
    heap.header(aligned, (2 * kMiB - 16) | kMapped);
    CHECK(stale_among({block}) == 0);
    // Where the system put the pages may be a multiple of more than a mebibyte.
    const std::uintptr_t alignment = block.address & (~block.address + 1);
    heap.header(aligned, (2 * kMiB + alignment) | kMapped);
    CHECK(stale_among({block}) == 1);
  }

  TEST_CASE("what is not mapped any more is stale, the others of the list are not") {
    const FakeHeap heap;
    KnownBlock gone;
    {
      const FakeHeap other;
      gone = other.block(16);
    }
    std::vector<KnownBlock> blocks{heap.block(16), gone, heap.block(2 * kMiB + 16)};
    std::sort(blocks.begin(), blocks.end(),
              [](const KnownBlock& a, const KnownBlock& b) { return a.address < b.address; });
    const auto stale = take_out_stale(blocks);
    REQUIRE(stale.size() == 1);
    CHECK(stale[0].address == gone.address);
    CHECK(blocks.size() == 2);
  }

  TEST_CASE("of two that overlap the older one is stale, whichever begins first") {
    const FakeHeap heap;
    for (const std::uint32_t first : {5u, 9u}) {
      KnownBlock before{heap.address(0), 2 * kMiB, BlockKind::anonymous_map, 0, first, 0, 0};
      KnownBlock behind{heap.address(kMiB), 2 * kMiB, BlockKind::anonymous_map, 0, 7, 0, 0};
      std::vector<KnownBlock> blocks{before, behind};
      const auto stale = take_out_stale(blocks);
      REQUIRE(stale.size() == 1);
      CHECK(stale[0].order == std::min(first, 7u));
    }
  }

  TEST_CASE("numbers of births that wrapped are younger") {
    const FakeHeap heap;
    KnownBlock before{heap.address(0), 2 * kMiB, BlockKind::anonymous_map, 0, 0xFFFFFFFF, 0, 0};
    KnownBlock behind{heap.address(kMiB), 2 * kMiB, BlockKind::anonymous_map, 0, 3, 0, 0};
    std::vector<KnownBlock> blocks{before, behind};
    CHECK(take_out_stale(blocks)[0].order == 0xFFFFFFFF);
  }

  TEST_CASE("a map is alive while it is mapped, even where nothing may be read") {
    std::uintptr_t address = 0;
    {
      const FakeHeap heap;
      address = heap.address(0);
      ::mprotect(reinterpret_cast<void*>(address), 8 * kMiB, PROT_NONE);
      CHECK(stale_among({{address, 8 * kMiB, BlockKind::anonymous_map, 0, 1, 0, 0}}) == 0);
    }
    CHECK(stale_among({{address, 8 * kMiB, BlockKind::anonymous_map, 0, 1, 0, 0}}) == 1);
  }

  TEST_CASE("more blocks than one call reads are all looked at") {
    const FakeHeap heap;
    std::vector<KnownBlock> blocks;
    // Nothing lies so low.
    for (std::uintptr_t at = 0; at < 2000; ++at) {
      blocks.push_back({4096 + at * 16, 16, BlockKind::heap, 0, 1, 0, 0});
    }
    blocks.push_back(heap.block(16));
    CHECK(take_out_stale(blocks).size() == 2000);
    CHECK(blocks.size() == 1);
  }
}

TEST_SUITE("resident_pages") {
  TEST_CASE("pages that were written count, those that were not do not") {
    const FakeHeap heap;
    std::memset(reinterpret_cast<void*>(heap.address(kMiB)), 1, 300 * 4096);
    const ResidentPages pages;
    CHECK(pages.bytes(heap.address(0), 8 * kMiB) == 300 * 4096);
    CHECK(pages.bytes(heap.address(kMiB), 4096) == 4096);
    CHECK(pages.bytes(heap.address(0), 4096) == 0);
  }
}
