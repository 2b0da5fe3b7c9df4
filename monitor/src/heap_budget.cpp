#include "heap_budget.hpp"

#include <cstdlib>

namespace xleak::monitor {
namespace {

// To walk them takes 50 µs, half of what all the accounting of a cell may cost.
constexpr std::int64_t kManyPieces = 10'000;
// The step of the kernel's own per-thread counters on older systems; below it nothing is said.
constexpr std::int64_t kMovedBytes = std::int64_t{64} * 1024;
// A pair of long readings is then at most a tenth of the work of quick cells.
constexpr int kCellsBetween = 20;

}  // namespace

bool HeapBudget::moved(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!resident_bytes || !resident_bytes_) return true;
  return std::abs(*resident_bytes - *resident_bytes_) >= kMovedBytes;
}

bool HeapBudget::affordable(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!last_reading_ || last_reading_->free_pieces <= kManyPieces) return true;
  return moved(resident_bytes) || cells_since_ >= kCellsBetween;
}

std::optional<HeapUse> HeapBudget::read(std::optional<std::int64_t> resident_bytes) noexcept {
  last_reading_ = probes_.heap();
  resident_bytes_ = resident_bytes;
  cells_since_ = 0;
  return last_reading_;
}

std::optional<HeapUse> HeapBudget::before_cell(
    std::optional<std::int64_t> resident_bytes) noexcept {
  ++cells_since_;
  read_before_cell_ = affordable(resident_bytes);
  return read_before_cell_ ? read(resident_bytes) : std::nullopt;
}

std::optional<HeapUse> HeapBudget::after_cell(std::optional<std::int64_t> resident_bytes) noexcept {
  // Half a pair would be paid for nothing.
  const bool pays = read_before_cell_ || affordable(resident_bytes);
  read_before_cell_ = false;
  return pays ? read(resident_bytes) : std::nullopt;
}

}  // namespace xleak::monitor
