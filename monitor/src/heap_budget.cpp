#include "heap_budget.hpp"

#include <cstdlib>

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;

// Half of what all the accounting of a cell may cost.
constexpr auto kCheap = 50us;
// The step of the kernel's own per-thread counters on older systems; below it nothing is said.
constexpr std::int64_t kMovedBytes = 64 * 1024;
// A dear reading then takes at most a twentieth of the session's time.
constexpr int kPauseInCosts = 20;

}  // namespace

bool HeapBudget::moved(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!resident_bytes || !last_resident_bytes_) return true;
  return std::abs(*resident_bytes - *last_resident_bytes_) >= kMovedBytes;
}

bool HeapBudget::affordable(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!last_ || last_cost_ <= kCheap || moved(resident_bytes)) return true;
  return probes_.now() - last_read_at_ >= kPauseInCosts * last_cost_;
}

std::optional<HeapUse> HeapBudget::read(std::optional<std::int64_t> resident_bytes) noexcept {
  const auto start = probes_.now();
  last_ = probes_.heap();
  last_read_at_ = probes_.now();
  last_cost_ = last_read_at_ - start;
  last_resident_bytes_ = resident_bytes;
  cell_ran_since_ = false;
  return last_;
}

std::optional<HeapUse> HeapBudget::before_cell(
    std::optional<std::int64_t> resident_bytes) noexcept {
  if (affordable(resident_bytes)) return read(resident_bytes);
  // Between cells no user code runs: what was read at the end of the last one still holds.
  return cell_ran_since_ ? std::nullopt : last_;
}

std::optional<HeapUse> HeapBudget::after_cell(std::optional<std::int64_t> resident_bytes) noexcept {
  if (affordable(resident_bytes)) return read(resident_bytes);
  // The cell may have used pieces that malloc kept; that moves no counter of the kernel.
  cell_ran_since_ = true;
  return std::nullopt;
}

}  // namespace xleak::monitor
