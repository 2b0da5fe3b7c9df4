#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "probes/probes.hpp"

namespace xleak::monitor {

/// Reads the C heap around cells without making them wait for it. A reading walks malloc's lists of
/// free pieces, microseconds or milliseconds; where it was dear, what was read after a cell stands
/// for the beginning of the next one, and the heap is read again only when the resident size moved
/// or enough time went by. What was not read is unknown.
class HeapBudget {
 public:
  explicit HeapBudget(Probes& probes) : probes_(probes) {}

  std::optional<HeapUse> before_cell(std::optional<std::int64_t> resident_bytes) noexcept;
  std::optional<HeapUse> after_cell(std::optional<std::int64_t> resident_bytes) noexcept;
  /// User code ran since the last reading: it does not hold before the next cell.
  void expire() noexcept { holds_ = false; }

 private:
  bool dear() const noexcept;
  bool moved(std::optional<std::int64_t> resident_bytes) const noexcept;
  bool affordable(std::optional<std::int64_t> resident_bytes) const noexcept;
  std::optional<HeapUse> read(std::optional<std::int64_t> resident_bytes) noexcept;

  Probes& probes_;
  std::optional<HeapUse> last_;
  std::optional<std::int64_t> last_resident_bytes_;
  std::chrono::nanoseconds last_cost_{0};
  std::chrono::nanoseconds last_read_at_{0};
  bool holds_ = false;             // No user code ran since the last reading.
  bool read_before_cell_ = false;  // The dear half of a pair is paid: the other completes it.
};

}  // namespace xleak::monitor
