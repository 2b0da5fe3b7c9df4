#include "torch/growth_ledger.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

using namespace xleak::libtorch;

namespace {

constexpr std::int64_t kStep = GrowthLedger::kLeastBytes;

// Varied, and other than those of another seed.
void fill(unsigned char* bytes, std::int64_t count, int seed) {
  std::iota(bytes, bytes + count, static_cast<unsigned char>(seed));
}

// A tensor of bytes that the ledger is told of.
class Grown {
 public:
  Grown(GrowthLedger& ledger, int seed) : ledger_(ledger), seed_(seed) {}

  // As `x = cat([x, part])` does, or `x = cat([part, x])`.
  void take(std::int64_t bytes, bool part_first = false) {
    auto larger = std::make_unique<unsigned char[]>(size_ + bytes);
    fill(larger.get() + (part_first ? 0 : size_), bytes, seed_ + ++steps_);
    std::copy_n(memory_.get(), size_, larger.get() + (part_first ? bytes : 0));
    replace(std::move(larger), size_ + bytes);
  }

  // As zeros(bytes) does.
  void make_zeros(std::int64_t bytes) { replace(std::make_unique<unsigned char[]>(bytes), bytes); }

  // As a value that has nothing of the old one.
  void make(std::int64_t bytes) {
    auto other = std::make_unique<unsigned char[]>(bytes);
    fill(other.get(), bytes, seed_ + ++steps_);
    replace(std::move(other), bytes);
  }

  void drop() {
    if (memory_) ledger_.freed(block());
    memory_.reset();
    size_ = 0;
  }

  Block block() const { return {reinterpret_cast<std::uintptr_t>(memory_.get()), size_, 1}; }

 private:
  void replace(std::unique_ptr<unsigned char[]> memory, std::int64_t size) {
    ledger_.made({reinterpret_cast<std::uintptr_t>(memory.get()), size, 1});
    drop();
    memory_ = std::move(memory);
    size_ = size;
  }

  GrowthLedger& ledger_;
  int seed_;
  std::unique_ptr<unsigned char[]> memory_;
  std::int64_t size_ = 0;
  int steps_ = 0;
};

Block block_of(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<std::uintptr_t>(bytes.data()), std::int64_t(bytes.size()), 1};
}

}  // namespace

TEST_SUITE("growth_ledger") {
  TEST_CASE("a block that is copied into a larger one nine times has grown") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    for (int i = 0; i < 9; ++i) x.take(kStep);
    const auto grown = ledger.grown();
    REQUIRE(grown.size() == 1);
    CHECK(grown[0].address == x.block().address);
    CHECK(grown[0].bytes == 9 * kStep);
    CHECK(grown[0].steps == 8);
    CHECK(grown[0].copied_bytes == 36 * kStep);
    CHECK(grown[0].made_bytes == 44 * kStep);
  }

  TEST_CASE("seven copies are few") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    for (int i = 0; i < 8; ++i) x.take(kStep);
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("parts of any size may come at either end") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    for (int i = 0; i < 12; ++i) x.take(kStep + 100 * (i % 3), i % 2 == 0);
    REQUIRE(ledger.grown().size() == 1);
    CHECK(ledger.grown()[0].steps == 11);
  }

  TEST_CASE("the part that is added may be freed before the value or after it") {
    for (const bool first : {true, false}) {
      GrowthLedger ledger;
      std::vector<unsigned char> x(kStep);
      std::vector<unsigned char> part(kStep);
      ledger.made(block_of(x));
      for (int i = 0; i < 12; ++i) {
        fill(part.data(), kStep, i);
        ledger.made(block_of(part));
        std::vector<unsigned char> larger = x;
        larger.insert(larger.end(), part.begin(), part.end());
        ledger.made(block_of(larger));
        ledger.freed(block_of(first ? part : x));
        ledger.freed(block_of(first ? x : part));
        x = std::move(larger);
      }
      REQUIRE(ledger.grown().size() == 1);
      CHECK(ledger.grown()[0].address == block_of(x).address);
      CHECK(ledger.grown()[0].steps == 12);
      CHECK(ledger.grown()[0].copied_bytes == 78 * kStep);
    }
  }

  TEST_CASE("two that grow in turn are two") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    Grown y(ledger, 100);
    for (int i = 0; i < 10; ++i) {
      x.take(kStep);
      y.take(2 * kStep);
    }
    const auto grown = ledger.grown();
    REQUIRE(grown.size() == 2);
    CHECK(grown[0].steps == 9);
    CHECK(grown[1].steps == 9);
  }

  TEST_CASE("values that come larger each time and have nothing of each other do not grow") {
    GrowthLedger ledger;
    Grown batch(ledger, 0);
    for (int i = 1; i < 30; ++i) batch.make(i * kStep);
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("zeros that come larger each time grow where each step is the same") {
    GrowthLedger ledger;
    Grown even(ledger, 0);
    for (int i = 1; i < 12; ++i) even.make_zeros(i * kStep);
    REQUIRE(ledger.grown().size() == 1);
    ledger.clear();
    Grown uneven(ledger, 0);
    for (int i = 1; i < 40; ++i) uneven.make_zeros(i * kStep + 128 * (i * i % 7));
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("a buffer that doubles is copied as often as it must") {
    GrowthLedger ledger;
    Grown buffer(ledger, 0);
    buffer.take(kStep);
    for (int i = 0; i < 9; ++i) buffer.take(buffer.block().bytes);
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("a window of constant size does not grow") {
    GrowthLedger ledger;
    Grown window(ledger, 0);
    window.take(4 * kStep);
    for (int i = 0; i < 30; ++i) {
      auto next = window.block();
      ledger.made(next);
      ledger.freed(next);
    }
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("small blocks are not looked at") {
    GrowthLedger ledger;
    // No address of anything: to read it would end the tests.
    for (int i = 1; i < 30; ++i) ledger.made({64, kStep - i, 1});
    ledger.freed({64, kStep - 1, 1});
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("what has grown is told after it was freed, and no more after clear") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    for (int i = 0; i < 9; ++i) x.take(kStep);
    x.drop();
    REQUIRE(ledger.grown().size() == 1);
    CHECK(ledger.grown()[0].address == 0);
    ledger.clear();
    CHECK(ledger.grown().empty());
  }

  TEST_CASE("many short rows do not push out one that has grown") {
    GrowthLedger ledger;
    Grown x(ledger, 0);
    for (int i = 0; i < 9; ++i) x.take(kStep);
    for (int i = 0; i < 50; ++i) {
      Grown y(ledger, 100);
      y.take(kStep);
      y.take(kStep);
      y.drop();
    }
    CHECK(ledger.grown().size() == 1);
  }
}
