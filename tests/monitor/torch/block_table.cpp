#include "torch/block_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace xleak::libtorch;

TEST_SUITE("block_table") {
  TEST_CASE("an empty table knows nothing") {
    BlockTable table;
    CHECK_FALSE(table.find(64));
    CHECK_FALSE(table.take(64));
  }

  TEST_CASE("a block is found until it is taken") {
    BlockTable table;
    table.add({64, 4096, 3});
    CHECK(table.find(64)->cell == 3);
    CHECK(table.take(64)->bytes == 4096);
    CHECK_FALSE(table.take(64));
    CHECK(table.size() == 0);
  }

  TEST_CASE("a block at a known address takes the place of the old one") {
    BlockTable table;
    table.add({64, 1, 1});
    table.add({64, 2, 2});
    CHECK(table.size() == 1);
    CHECK(table.find(64)->bytes == 2);
  }

  TEST_CASE("only blocks of the wanted size are listed") {
    BlockTable table;
    table.add({64, 99, 1});
    table.add({128, 100, 1});
    const auto listed = table.at_least(100);
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].address == 128);
  }

  TEST_CASE("any order of adding and taking gives what a plain map gives") {
    BlockTable table;
    std::map<std::uintptr_t, std::int64_t> plain;
    std::mt19937 random(7);
    for (int step = 0; step < 200'000; ++step) {
      const std::uintptr_t address = 64 * (1 + random() % 3000);
      if (random() % 2 == 0) {
        table.add({address, step, 0});
        plain[address] = step;
      } else {
        const auto taken = table.take(address);
        const auto expected = plain.find(address);
        REQUIRE(taken.has_value() == (expected != plain.end()));
        if (taken) REQUIRE(taken->bytes == expected->second);
        plain.erase(address);
      }
      REQUIRE(table.size() == plain.size());
    }
    for (const auto& [address, bytes] : plain) REQUIRE(table.find(address)->bytes == bytes);
  }
}
