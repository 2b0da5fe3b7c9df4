#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace xleak::libtorch {

/// Blocks of one size that a cell made and freed again.
struct ChurnedBlocks {
  std::int64_t bytes = 0;  ///< Of one of them.
  std::int64_t count = 0;
};

/// Counts large blocks by their size, the few that come most often. Not safe to use from several
/// threads.
class ChurnLedger {
 public:
  /// To make a smaller block again costs next to nothing.
  static constexpr std::int64_t kLeastBytes = 1 << 20;

  void clear() noexcept { *this = ChurnLedger(); }
  /// A block of the running cell was freed.
  void freed(std::int64_t bytes) noexcept {
    if (bytes >= kLeastBytes) count(bytes);
  }
  /// What was counted, never more than there was.
  std::vector<ChurnedBlocks> churned() const;

 private:
  void count(std::int64_t bytes) noexcept;

  // The activations of a few layers have as many sizes.
  std::array<ChurnedBlocks, 16> rows_{};
};

}  // namespace xleak::libtorch
