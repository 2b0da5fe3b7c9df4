#pragma once
#include <cstdint>
#include <optional>

#include "probes/probes.hpp"

namespace xleak::monitor {

/// Reads the C heap around cells without making them wait for it. A reading walks malloc's lists of
/// free pieces, microseconds or milliseconds; where there are many, the heap is read only when the
/// resident size moved, and now and then. What was not read is unknown, never called unchanged. It
/// goes by pieces, not by time, so that the same cells have the same numbers on any machine.
class HeapBudget {
 public:
  explicit HeapBudget(Probes& probes) : probes_(probes) {}

  std::optional<HeapUse> before_cell(std::optional<std::int64_t> resident_bytes) noexcept;
  std::optional<HeapUse> after_cell(std::optional<std::int64_t> resident_bytes) noexcept;
  /// As it was when it was last read.
  std::optional<HeapUse> last_reading() const noexcept { return last_reading_; }

 private:
  bool moved(std::optional<std::int64_t> resident_bytes) const noexcept;
  bool affordable(std::optional<std::int64_t> resident_bytes) const noexcept;
  std::optional<HeapUse> read(std::optional<std::int64_t> resident_bytes) noexcept;

  Probes& probes_;
  std::optional<HeapUse> last_reading_;
  // Of the last reading.
  std::optional<std::int64_t> resident_bytes_;
  int cells_since_ = 0;
  bool read_before_cell_ = false;
};

}  // namespace xleak::monitor
