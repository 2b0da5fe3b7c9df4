#include "block_table.hpp"

namespace xleak::libtorch {
namespace {

constexpr std::size_t kFirstSlots = 1024;

// Allocators align to 64 bytes and more, so the low bits of an address tell nothing. Multiplied by
// the golden ratio (Knuth, volume 3, 6.4) the high ones do.
constexpr std::size_t hash_of(std::uintptr_t address) noexcept {
  return static_cast<std::size_t>((std::uint64_t{address} * 0x9E3779B97F4A7C15u) >> 32);
}

}  // namespace

// The slot of an address, or the free one where it would go.
std::size_t BlockTable::slot_of(std::uintptr_t address) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(address) & mask;
  while (slots_[at].address != address && slots_[at].address != 0) at = (at + 1) & mask;
  return at;
}

void BlockTable::grow() {
  std::vector<Block> before(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  before.swap(slots_);
  for (const Block& block : before) {
    if (block.address != 0) slots_[slot_of(block.address)] = block;
  }
}

void BlockTable::add(const Block& block) {
  // Half full at most keeps the searches short.
  if (2 * (used_ + 1) > slots_.size()) grow();
  Block& slot = slots_[slot_of(block.address)];
  if (slot.address == 0) ++used_;
  slot = block;
}

std::optional<Block> BlockTable::take(std::uintptr_t address) noexcept {
  if (used_ == 0) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(address);
  const Block taken = slots_[hole];
  if (taken.address == 0) return std::nullopt;
  // What came after it moves up, unless that would put it before its home.
  for (std::size_t at = (hole + 1) & mask; slots_[at].address != 0; at = (at + 1) & mask) {
    const std::size_t home = hash_of(slots_[at].address) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = Block{};
  --used_;
  return taken;
}

std::optional<Block> BlockTable::find(std::uintptr_t address) const noexcept {
  if (used_ == 0) return std::nullopt;
  const Block& block = slots_[slot_of(address)];
  return block.address == 0 ? std::nullopt : std::optional<Block>(block);
}

std::vector<Block> BlockTable::at_least(std::int64_t min_bytes) const {
  std::vector<Block> blocks;
  for (const Block& block : slots_) {
    if (block.address != 0 && block.bytes >= min_bytes) blocks.push_back(block);
  }
  return blocks;
}

}  // namespace xleak::libtorch
