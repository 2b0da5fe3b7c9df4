#include "growth_ledger.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

namespace xleak::libtorch {
namespace {

// What makes copies quadratic in effect, and not the doubling of a buffer: so many steps, and
// together so many times the result.
constexpr int kLeastSteps = 8;
constexpr std::int64_t kTimesTheResult = 4;

// Enough to tell contents apart, and one cache line.
constexpr std::size_t kSampleBytes = 64;

const unsigned char* start_of(const Block& block) noexcept {
  return reinterpret_cast<const unsigned char*>(block.address);
}

const unsigned char* last_of(const Block& block) noexcept {
  return start_of(block) + block.bytes - kSampleBytes;
}

bool is_varied(const unsigned char* sample) noexcept {
  return std::memcmp(sample, sample + 1, kSampleBytes - 1) != 0;
}

// Whether it was concatenated with something after it, or before it. Zeros and ones are in many
// blocks: that they are the same again says something only if the step is the same too.
bool holds_a_copy(const Block& larger, const Block& block, const GrownBlock& row) noexcept {
  const bool starts = std::memcmp(start_of(larger), start_of(block), kSampleBytes) == 0;
  const bool ends = std::memcmp(last_of(larger), last_of(block), kSampleBytes) == 0;
  if (starts && is_varied(start_of(block))) return true;
  if (ends && is_varied(last_of(block))) return true;
  const bool even = row.steps == 0 || row.step_bytes == larger.bytes - block.bytes;
  return even && (starts || ends);
}

bool was_grown(const GrownBlock& row) noexcept {
  return row.steps >= kLeastSteps && row.made_bytes >= kTimesTheResult * row.bytes;
}

}  // namespace

void GrowthLedger::remember(const Block& block) noexcept {
  latest_[next_] = block;
  next_ = (next_ + 1) % latest_.size();
}

// The newest first.
const Block* GrowthLedger::successor_of(const Block& block, const GrownBlock& row) const noexcept {
  for (std::size_t age = 1; age <= latest_.size(); ++age) {
    const Block& later = latest_[(next_ + latest_.size() - age) % latest_.size()];
    if (later.address == block.address) return nullptr;
    if (later.bytes > block.bytes && holds_a_copy(later, block, row)) return &later;
  }
  return nullptr;
}

GrownBlock* GrowthLedger::ending_at(std::uintptr_t address) noexcept {
  const auto at = std::find_if(rows_.begin(), rows_.end(),
                               [&](const GrownBlock& row) { return row.address == address; });
  return at == rows_.end() ? nullptr : &*at;
}

// What ended gives way before what may still grow.
GrownBlock& GrowthLedger::least() noexcept {
  const auto worth = [](const GrownBlock& row) {
    return std::make_tuple(row.address != 0, row.copied_bytes);
  };
  return *std::min_element(
      rows_.begin(), rows_.end(),
      [&](const GrownBlock& a, const GrownBlock& b) { return worth(a) < worth(b); });
}

// The part that was added is in the larger block too, and may be freed first: what was grown is the
// row with more in it.
void GrowthLedger::extend(GrownBlock row, const Block& from, const Block& to) noexcept {
  GrownBlock* place = ending_at(to.address);
  row.copied_bytes += from.bytes;
  if (place != nullptr && place->copied_bytes >= row.copied_bytes) return;
  row.address = to.address;
  row.bytes = to.bytes;
  row.made_bytes += to.bytes;
  row.step_bytes = to.bytes - from.bytes;
  ++row.steps;
  *(place != nullptr ? place : &least()) = row;
}

void GrowthLedger::follow(const Block& block) noexcept {
  GrownBlock* known = ending_at(block.address);
  GrownBlock row = known != nullptr ? *known : GrownBlock{};
  const Block* larger = successor_of(block, row);
  if (known != nullptr) known->address = 0;
  if (known != nullptr && (larger != nullptr || !was_grown(row))) *known = GrownBlock{};
  if (larger != nullptr) extend(row, block, *larger);
  for (Block& latest : latest_) {
    if (latest.address == block.address) latest = Block{};
  }
}

std::vector<GrownBlock> GrowthLedger::grown() const {
  std::vector<GrownBlock> found;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(found), was_grown);
  return found;
}

}  // namespace xleak::libtorch
