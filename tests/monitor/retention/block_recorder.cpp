#include "retention/block_recorder.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "units.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::uintptr_t kBase = std::uintptr_t{1} << 44;

/// Somewhere that no allocator of this process uses; the recorder never reads there.
void* place(std::uintptr_t mebibytes) { return reinterpret_cast<void*>(kBase + (mebibytes << 20)); }

BlockRecorder& fresh_recorder() {
  static BlockRecorder recorder;
  recorder.end();
  recorder.begin();
  recorder.births_belong_to(0);
  return recorder;
}

SiteIndex current_site = 0;
SiteIndex scripted_site() noexcept { return current_site; }

/// Blocks have the line that current_site says.
struct ScriptedLines {
  ScriptedLines() { read_sites_by(scripted_site); }
  ~ScriptedLines() {
    read_sites_by(nullptr);
    current_site = 0;
  }
};

std::vector<KnownBlock> listed(const BlockRecorder& recorder) {
  std::vector<KnownBlock> blocks;
  recorder.table().each([&](const KnownBlock& block) { blocks.push_back(block); });
  return blocks;
}

std::int64_t at_peak_of(BlockRecorder& recorder, SiteIndex site) {
  for (const AtPeak& part : recorder.made_up_the_peak()) {
    if (part.site == site) return part.bytes;
  }
  return 0;
}

void born(BlockRecorder& recorder, std::uintptr_t at, std::int64_t mebibytes, SiteIndex site = 0) {
  current_site = site;
  recorder.born(place(at), static_cast<std::size_t>(mebibytes * kMiB), BlockKind::heap);
}

}  // namespace

TEST_SUITE("block_recorder") {
  TEST_CASE("a birth has its cell, its line, its thread and a number in its order") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    recorder.births_belong_to(4);
    born(recorder, 0, 1, 77);
    born(recorder, 1, 2, 78);
    const auto blocks = listed(recorder);
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0].cell == 4);
    CHECK(blocks[0].site == 77);
    CHECK(blocks[1].site == 78);
    CHECK(blocks[1].order == blocks[0].order + 1);
    CHECK(blocks[0].thread != 0);
  }

  TEST_CASE("an allocation that failed leaves nothing") {
    BlockRecorder& recorder = fresh_recorder();
    recorder.born(nullptr, 1 << 20, BlockKind::heap);
    CHECK(listed(recorder).empty());
    CHECK(recorder.sums().alive_bytes == 0);
  }

  TEST_CASE("an arena of Python's is no cell's birth, and no heap") {
    const ScriptedLines lines;
    current_site = 5;
    BlockRecorder& recorder = fresh_recorder();
    recorder.births_belong_to(4);
    recorder.born(place(0), 1 << 20, BlockKind::python_arena);
    REQUIRE(listed(recorder).size() == 1);
    CHECK(listed(recorder)[0].cell == 0);
    CHECK(listed(recorder)[0].site == 0);
    CHECK(recorder.sums().alive_bytes == 0);
    CHECK(recorder.sums().mapped_bytes == 0);
  }

  TEST_CASE("a map counts apart from the heap, by its length") {
    BlockRecorder& recorder = fresh_recorder();
    recorder.born(place(0), 3 << 20, BlockKind::anonymous_map);
    recorder.born(place(8), 5 << 20, BlockKind::file_map);
    CHECK(recorder.sums().alive_bytes == 0);
    CHECK(recorder.sums().mapped_bytes == 3 * kMiB);
    recorder.gone(place(0));
    CHECK(recorder.sums().mapped_bytes == 0);
  }

  TEST_CASE("growth is a new birth, and shrinking keeps the old one") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    recorder.births_belong_to(1);
    born(recorder, 0, 4, 10);
    recorder.births_belong_to(2);
    current_site = 20;
    recorder.resized(recorder.gone(place(0)), place(0), 2 << 20, BlockKind::heap);
    CHECK(listed(recorder)[0].cell == 1);
    CHECK(listed(recorder)[0].site == 10);
    CHECK(listed(recorder)[0].bytes == 2 * kMiB);
    recorder.resized(recorder.gone(place(0)), place(16), 8 << 20, BlockKind::heap);
    REQUIRE(listed(recorder).size() == 1);
    CHECK(listed(recorder)[0].cell == 2);
    CHECK(listed(recorder)[0].site == 20);
    CHECK(recorder.sums().alive_bytes == 8 * kMiB);
  }

  TEST_CASE("a block that is put back is the one that it was") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 4, 10);
    const auto before = listed(recorder)[0];
    recorder.put_back(*recorder.gone(place(0)));
    CHECK(listed(recorder)[0].order == before.order);
    CHECK(listed(recorder)[0].site == 10);
    CHECK(recorder.sums().alive_bytes == 4 * kMiB);
  }

  TEST_CASE("a block at the address of one that went unseen takes its place in the sums") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 4);
    born(recorder, 0, 1);
    CHECK(recorder.sums().alive_bytes == kMiB);
  }

  TEST_CASE("what is unmapped in the middle of a map leaves two maps of the same birth") {
    BlockRecorder& recorder = fresh_recorder();
    recorder.births_belong_to(6);
    recorder.born(place(0), 8 << 20, BlockKind::anonymous_map);
    recorder.unmapped(place(2), 3 << 20);
    const auto rest = listed(recorder);
    REQUIRE(rest.size() == 2);
    CHECK(rest[0].bytes == 2 * kMiB);
    CHECK(rest[1].address == reinterpret_cast<std::uintptr_t>(place(5)));
    CHECK(rest[1].bytes == 3 * kMiB);
    CHECK(rest[1].cell == 6);
    CHECK(recorder.sums().mapped_bytes == 5 * kMiB);
  }

  TEST_CASE("one call unmaps the end of a map, all of the next and the beginning of a third") {
    BlockRecorder& recorder = fresh_recorder();
    for (const std::uintptr_t at : {0, 8, 16}) {
      recorder.born(place(at), 4 << 20, BlockKind::anonymous_map);
    }
    recorder.unmapped(place(3), 14 << 20);
    const auto rest = listed(recorder);
    REQUIRE(rest.size() == 2);
    CHECK(rest[0].bytes == 3 * kMiB);
    CHECK(rest[1].address == reinterpret_cast<std::uintptr_t>(place(17)));
    CHECK(rest[1].bytes == 3 * kMiB);
  }

  TEST_CASE("a call that the system refuses unmaps nothing") {
    BlockRecorder& recorder = fresh_recorder();
    recorder.born(place(0), 4 << 20, BlockKind::anonymous_map);
    recorder.unmapped(static_cast<char*>(place(0)) + 8, 1 << 20);
    recorder.unmapped(place(0), 0);
    CHECK(listed(recorder)[0].bytes == 4 * kMiB);
  }

  TEST_CASE("to unmap pages never removes a block of the heap") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 4);
    recorder.unmapped(place(0), 4 << 20);
    CHECK(listed(recorder).size() == 1);
  }

  TEST_CASE("the peak of one thread is exact to the byte") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 1);
    born(recorder, 8, 2);
    recorder.gone(place(8));
    born(recorder, 8, 1);
    CHECK(recorder.sums().alive_bytes == 2 * kMiB);
    CHECK(recorder.sums().peak_bytes == 3 * kMiB);
  }

  TEST_CASE("a cell begins with what is alive as its peak") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 9);
    born(recorder, 16, 1);
    recorder.gone(place(0));
    recorder.births_belong_to(2);
    CHECK(recorder.sums().peak_bytes == kMiB);
    born(recorder, 0, 1);
    recorder.gone(place(0));
    CHECK(recorder.sums().peak_bytes == 2 * kMiB);
  }

  TEST_CASE("the peak is made up of what was alive then, largest first, not of what is alive now") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 2, 1);
    born(recorder, 8, 5, 2);
    born(recorder, 16, 1, 3);
    recorder.gone(place(8));
    recorder.gone(place(16));
    born(recorder, 16, 3, 4);
    const auto parts = recorder.made_up_the_peak();
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].site == 2);
    CHECK(parts[0].bytes == 5 * kMiB);
    CHECK(parts[1].site == 1);
    CHECK(parts[1].bytes == 2 * kMiB);
    CHECK(parts[2].site == 3);
    CHECK(parts[2].bytes == kMiB);
  }

  TEST_CASE("what made up a new peak is counted from its beginning") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 5, 1);
    recorder.gone(place(0));
    born(recorder, 0, 2, 1);
    born(recorder, 8, 4, 2);
    recorder.gone(place(8));
    CHECK(recorder.sums().peak_bytes == 6 * kMiB);
    CHECK(at_peak_of(recorder, 1) == 2 * kMiB);
    CHECK(at_peak_of(recorder, 2) == 4 * kMiB);
  }

  TEST_CASE("a loop over a few lines is in the peak once") {
    const ScriptedLines lines;
    BlockRecorder& recorder = fresh_recorder();
    for (int step = 0; step < 1000; ++step) {
      born(recorder, 0, 1, 1);
      born(recorder, 8, 1, 2);
      recorder.gone(place(0));
      recorder.gone(place(8));
    }
    CHECK(recorder.sums().peak_bytes == 2 * kMiB);
    CHECK(at_peak_of(recorder, 1) == kMiB);
    CHECK(at_peak_of(recorder, 2) == kMiB);
  }

  TEST_CASE("what threads made and left is in the sums, to the byte, after they ended") {
    BlockRecorder& recorder = fresh_recorder();
    constexpr std::uintptr_t kThreads = 64;
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&recorder, thread] {
        for (std::uintptr_t step = 0; step < 500; ++step) {
          const auto at = place(thread * 16 + step % 16);
          recorder.gone(at);
          recorder.born(at, (1 << 20) - step % 7 * 4096, BlockKind::heap);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::int64_t alive = 0;
    for (const KnownBlock& block : listed(recorder)) alive += block.bytes;
    CHECK(recorder.sums().alive_bytes == alive);
    recorder.births_belong_to(1);
    CHECK(recorder.sums().alive_bytes == alive);
    CHECK(recorder.sums().peak_bytes == alive);
  }

  TEST_CASE("with threads the peak is off by 4 MiB for each at most") {
    BlockRecorder& recorder = fresh_recorder();
    constexpr std::int64_t kThreads = 8;
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&recorder, thread] {
        for (std::uintptr_t step = 0; step < 15; ++step) {
          recorder.born(place(thread * 16 + step), 1 << 20, BlockKind::heap);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::uintptr_t at = 0; at < kThreads * 16; ++at) recorder.gone(place(at));
    CHECK(recorder.sums().alive_bytes == 0);
    const std::int64_t real_peak = kThreads * 15 * kMiB;
    const std::int64_t most_missed = kThreads * BlockSumsByLine::kUnreportedBytes;
    CHECK(recorder.sums().peak_bytes >= real_peak - most_missed);
    CHECK(recorder.sums().peak_bytes <= real_peak + most_missed);
  }

  TEST_CASE("more threads than there are accounts, one after another, lose nothing") {
    BlockRecorder& recorder = fresh_recorder();
    for (std::uintptr_t thread = 0; thread < ThreadSlots::kSlots + 200; ++thread) {
      std::thread([&] { recorder.born(place(thread), 1 << 20, BlockKind::heap); }).join();
      if (thread % 300 == 299) recorder.births_belong_to(static_cast<std::uint32_t>(thread));
    }
    CHECK(recorder.sums().alive_bytes == (ThreadSlots::kSlots + 200) * kMiB);
  }

  TEST_CASE("what is off records nothing, and what begins again knows nothing of before") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 1);
    recorder.end();
    born(recorder, 8, 1);
    CHECK(listed(recorder).empty());
    recorder.begin();
    recorder.gone(place(0));
    CHECK(recorder.sums().alive_bytes == 0);
    CHECK(recorder.sums().peak_bytes == 0);
    CHECK(recorder.made_up_the_peak().empty());
  }

  TEST_CASE("a stale block is dropped, but not the one that has its address by now") {
    BlockRecorder& recorder = fresh_recorder();
    born(recorder, 0, 1);
    const KnownBlock stale = listed(recorder)[0];
    recorder.drop(stale);
    CHECK(listed(recorder).empty());
    born(recorder, 0, 2);
    recorder.drop(stale);
    CHECK(recorder.sums().alive_bytes == 2 * kMiB);
  }
}
