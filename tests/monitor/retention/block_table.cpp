#include "retention/block_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

using namespace xleak::monitor;

namespace {

constexpr std::uintptr_t kPiece = 64 << 10;

KnownBlock block_at(std::uintptr_t address, std::int64_t bytes = kPiece, std::uint32_t order = 1) {
  return {address, bytes, BlockKind::heap, 3, order, 7, 2};
}

/// Nothing destroys a table, so the cases share one.
BlockTable& empty_table() {
  static BlockTable table;
  table.forget_all();
  return table;
}

std::optional<KnownBlock> put(BlockTable& table, const KnownBlock& block) {
  std::optional<KnownBlock> replaced;
  REQUIRE(table.put(block, replaced));
  return replaced;
}

std::vector<std::uintptr_t> addresses_of(const BlockTable& table) {
  std::vector<std::uintptr_t> found;
  table.each([&](const KnownBlock& block) { found.push_back(block.address); });
  return found;
}

}  // namespace

TEST_SUITE("large block_table") {
  TEST_CASE("an empty table knows nothing") {
    BlockTable& table = empty_table();
    CHECK_FALSE(table.take(0));
    CHECK_FALSE(table.take(kPiece));
    CHECK_FALSE(table.covering(kPiece));
    CHECK_FALSE(table.first_in(0, 1000 * kPiece));
    CHECK(addresses_of(table).empty());
  }

  TEST_CASE("a block is taken once, with all that was kept of it") {
    BlockTable& table = empty_table();
    CHECK_FALSE(put(table, {5 * kPiece + 16, 1 << 20, BlockKind::file_map, 3, 9, 65535, 12}));
    const auto taken = table.take(5 * kPiece + 16);
    REQUIRE(taken);
    CHECK(taken->bytes == 1 << 20);
    CHECK(taken->kind == BlockKind::file_map);
    CHECK(taken->cell == 3);
    CHECK(taken->order == 9);
    CHECK(taken->site == 65535);
    CHECK(taken->thread == 12);
    CHECK_FALSE(table.take(5 * kPiece + 16));
  }

  TEST_CASE("an address inside a block is not the block") {
    BlockTable& table = empty_table();
    put(table, block_at(5 * kPiece + 16));
    CHECK_FALSE(table.take(5 * kPiece + 32));
    CHECK(table.take(5 * kPiece + 16));
  }

  TEST_CASE("who takes the place of a block that was never released hears of it") {
    BlockTable& table = empty_table();
    put(table, block_at(5 * kPiece + 16, 70000));
    const auto replaced = put(table, block_at(5 * kPiece + 4096, 80000));
    REQUIRE(replaced);
    CHECK(replaced->bytes == 70000);
    CHECK(addresses_of(table) == std::vector<std::uintptr_t>{5 * kPiece + 4096});
  }

  TEST_CASE("no place is had beyond what the system hands out") {
    BlockTable& table = empty_table();
    std::optional<KnownBlock> replaced;
    CHECK_FALSE(table.put(block_at(std::uintptr_t{1} << 47), replaced));
    CHECK_FALSE(table.take(std::uintptr_t{1} << 47));
    CHECK(table.put(block_at((std::uintptr_t{1} << 47) - kPiece), replaced));
  }

  TEST_CASE("blocks are listed in the order of their addresses") {
    BlockTable& table = empty_table();
    const std::vector<std::uintptr_t> addresses{
        kPiece, 130 * kPiece, (std::uintptr_t{1} << 40) + 64, (std::uintptr_t{1} << 46) + 4096};
    for (auto at = addresses.rbegin(); at != addresses.rend(); ++at) put(table, block_at(*at));
    CHECK(addresses_of(table) == addresses);
  }

  TEST_CASE("the block over an address is found from any place in it, across tables of 4 GiB") {
    BlockTable& table = empty_table();
    const std::uintptr_t begin = (std::uintptr_t{1} << 40) - kPiece + 4096;
    put(table, block_at(begin, std::int64_t{6} << 30));
    CHECK(table.covering(begin)->address == begin);
    CHECK(table.covering(begin + (std::uintptr_t{6} << 30) - 1)->address == begin);
    CHECK_FALSE(table.covering(begin + (std::uintptr_t{6} << 30)));
    CHECK_FALSE(table.covering(begin - 1));
  }

  TEST_CASE(
      "a block that begins behind an address in the same piece does not hide the one before") {
    BlockTable& table = empty_table();
    put(table, block_at(8 * kPiece, 2 * kPiece + 4096));
    put(table, block_at(10 * kPiece + 8192));
    CHECK(table.covering(10 * kPiece)->address == 8 * kPiece);
    CHECK_FALSE(table.covering(10 * kPiece + 4096));
  }

  TEST_CASE("the first block of a range is the lowest that begins in it") {
    BlockTable& table = empty_table();
    put(table, block_at(8 * kPiece + 64));
    put(table, block_at(900 * kPiece));
    CHECK(table.first_in(8 * kPiece, 1000 * kPiece)->address == 8 * kPiece + 64);
    CHECK(table.first_in(8 * kPiece + 65, 1000 * kPiece)->address == 900 * kPiece);
    CHECK_FALSE(table.first_in(8 * kPiece + 65, 900 * kPiece));
  }

  TEST_CASE("what was forgotten is neither found nor listed, nor does it count as replaced") {
    BlockTable& table = empty_table();
    put(table, block_at(5 * kPiece));
    table.forget_all();
    CHECK_FALSE(table.take(5 * kPiece));
    CHECK(addresses_of(table).empty());
    CHECK_FALSE(put(table, block_at(5 * kPiece)));
    CHECK(table.take(5 * kPiece));
  }

  TEST_CASE("any order of putting and taking gives what a plain map gives") {
    BlockTable& table = empty_table();
    std::map<std::uintptr_t, std::int64_t> plain;
    std::mt19937 random(7);
    for (std::uint32_t step = 1; step <= 100'000; ++step) {
      const std::uintptr_t address = kPiece * (1 + random() % 3000) * 37;
      if (random() % 2 == 0) {
        put(table, block_at(address, step, step));
        plain[address] = step;
      } else {
        const auto taken = table.take(address);
        const auto expected = plain.find(address);
        REQUIRE(taken.has_value() == (expected != plain.end()));
        if (taken) REQUIRE(taken->bytes == expected->second);
        plain.erase(address);
      }
    }
    std::map<std::uintptr_t, std::int64_t> listed;
    table.each([&](const KnownBlock& block) { listed[block.address] = block.bytes; });
    CHECK(listed == plain);
  }

  TEST_CASE("a list made while threads come and go has only whole entries") {
    BlockTable& table = empty_table();
    constexpr std::uint32_t kSteps = 20'000;
    std::atomic<int> running{4};
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 1; thread <= 4; ++thread) {
      threads.emplace_back([&table, &running, thread] {
        std::optional<KnownBlock> replaced;
        for (std::uint32_t step = 1; step <= kSteps; ++step) {
          // The number is in each field, so that a mixture is seen.
          const auto cell = static_cast<std::uint32_t>(thread);
          table.put({thread * kPiece, step, BlockKind::heap, cell, step, 0, 0}, replaced);
          table.take(thread * kPiece);
        }
        --running;
      });
    }
    bool whole = true;
    while (running > 0) {
      table.each([&](const KnownBlock& block) {
        whole = whole && block.bytes == block.order && block.address == block.cell * kPiece;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(whole);
    CHECK(addresses_of(table).empty());
  }
}
