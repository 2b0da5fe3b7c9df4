#include "heap_budget.hpp"

#include <cstdlib>

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;

// Half of what all the accounting of a cell may cost.
constexpr auto kCheap = 50us;
// The step of the kernel's own per-thread counters on older systems; below it nothing is said.
constexpr std::int64_t kMovedBytes = std::int64_t{64} * 1024;
// A dear pair of readings then takes at most a tenth of the session's time.
constexpr int kPauseInCosts = 20;

}  // namespace

bool HeapBudget::moved(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!resident_bytes || !resident_bytes_) return true;
  return std::abs(*resident_bytes - *resident_bytes_) >= kMovedBytes;
}

bool HeapBudget::affordable(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (cost_ <= kCheap || moved(resident_bytes)) return true;
  return probes_.now() - read_at_ >= kPauseInCosts * cost_;
}

std::optional<HeapUse> HeapBudget::read(std::optional<std::int64_t> resident_bytes) noexcept {
  const auto start = probes_.now();
  const auto heap = probes_.heap();
  last_reading_ = heap;
  read_at_ = probes_.now();
  cost_ = read_at_ - start;
  resident_bytes_ = resident_bytes;
  return heap;
}

std::optional<HeapUse> HeapBudget::before_cell(
    std::optional<std::int64_t> resident_bytes) noexcept {
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
