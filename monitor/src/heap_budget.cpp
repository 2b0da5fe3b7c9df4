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

bool HeapBudget::dear() const noexcept { return last_cost_ > kCheap; }

bool HeapBudget::moved(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!resident_bytes || !last_resident_bytes_) return true;
  return std::abs(*resident_bytes - *last_resident_bytes_) >= kMovedBytes;
}

bool HeapBudget::affordable(std::optional<std::int64_t> resident_bytes) const noexcept {
  if (!last_ || !dear() || moved(resident_bytes)) return true;
  return probes_.now() - last_read_at_ >= kPauseInCosts * last_cost_;
}

std::optional<HeapUse> HeapBudget::read(std::optional<std::int64_t> resident_bytes) noexcept {
  const auto start = probes_.now();
  last_ = probes_.heap();
  last_read_at_ = probes_.now();
  last_cost_ = last_read_at_ - start;
  last_resident_bytes_ = resident_bytes;
  holds_ = true;
  return last_;
}

std::optional<HeapUse> HeapBudget::before_cell(
    std::optional<std::int64_t> resident_bytes) noexcept {
  if (dear() && holds_ && !moved(resident_bytes)) return last_;
  if (!affordable(resident_bytes)) return std::nullopt;
  read_before_cell_ = true;
  return read(resident_bytes);
}

std::optional<HeapUse> HeapBudget::after_cell(std::optional<std::int64_t> resident_bytes) noexcept {
  const bool pays = read_before_cell_ || affordable(resident_bytes);
  read_before_cell_ = false;
  if (pays) return read(resident_bytes);
  // The cell may have used pieces that malloc kept; that moves no counter of the kernel.
  expire();
  return std::nullopt;
}

}  // namespace xleak::monitor
