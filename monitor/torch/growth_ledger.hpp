#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "block_table.hpp"

namespace xleak::libtorch {

/// A block that was grown: each step made a larger one, copied the one before into it and let go of
/// that. Sizes in bytes.
struct GrownBlock {
  std::uintptr_t address = 0;     ///< Of the last one; 0 once that was freed.
  std::int64_t bytes = 0;         ///< Of the last one.
  std::int64_t made_bytes = 0;    ///< Of all that were made together.
  std::int64_t copied_bytes = 0;  ///< Of what had been there before the step, over all steps.
  std::int64_t step_bytes = 0;    ///< By which the last step grew it.
  int steps = 0;
};

/// Follows blocks that grow by copies, the few largest of them. Reads the ends of blocks: an
/// address is one of live memory. Not safe to use from several threads.
class GrowthLedger {
 public:
  /// Smaller blocks are not looked at: to copy them costs less than to ask for them.
  static constexpr std::int64_t kLeastBytes = 64 << 10;

  void clear() noexcept { *this = GrowthLedger(); }
  void made(const Block& block) noexcept {
    if (block.bytes >= kLeastBytes) remember(block);
  }
  /// Before its memory goes.
  void freed(const Block& block) noexcept {
    if (block.bytes >= kLeastBytes) follow(block);
  }
  /// Those that were copied more often than a list of their parts would be.
  std::vector<GrownBlock> grown() const;

 private:
  void remember(const Block& block) noexcept;
  void follow(const Block& block) noexcept;
  const Block* successor_of(const Block& block, const GrownBlock& row) const noexcept;
  void extend(GrownBlock row, const Block& from, const Block& to) noexcept;
  GrownBlock* ending_at(std::uintptr_t address) noexcept;
  GrownBlock& least() noexcept;

  // A name is bound again right after its new value was made; a few values may be made together.
  std::array<Block, 4> latest_{};
  std::size_t next_ = 0;
  std::array<GrownBlock, 8> rows_{};
};

}  // namespace xleak::libtorch
