#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace xleak::libtorch {

/// One live block that an allocator handed out.
struct Block {
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;
  int cell = 0;   ///< Index of the cell that made it; 0 between cells.
  int scope = 0;  ///< Number of the scope that had begun last when it was made; 0 before the first.
};

/// A hash table from address to block: linear probing, and no markers of what was removed. Not safe
/// to use from several threads.
class BlockTable {
 public:
  /// Takes the place of a block that had the same address. Throws std::bad_alloc, and then holds
  /// what it held.
  void add(const Block& block);
  /// Removes and returns the block at an address; empty where none is known.
  std::optional<Block> take(std::uintptr_t address) noexcept;
  std::optional<Block> find(std::uintptr_t address) const noexcept;
  /// Every block of at least so many bytes, in no order.
  std::vector<Block> at_least(std::int64_t min_bytes) const;
  std::size_t size() const noexcept { return used_; }

 private:
  std::size_t slot_of(std::uintptr_t address) const noexcept;
  void grow();

  std::vector<Block> slots_;  // A power of two; address 0 is a free slot.
  std::size_t used_ = 0;
};

}  // namespace xleak::libtorch
