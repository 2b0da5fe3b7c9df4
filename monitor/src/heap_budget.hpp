#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "probes/probes.hpp"

namespace xleak::monitor {

/// Reads the C heap around cells without making them wait for it. A reading walks malloc's lists of
/// free pieces, microseconds or milliseconds; where it was dear, the heap is read again only when
/// the resident size moved or enough time went by. What was not read is unknown, never called
/// unchanged.
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
  std::chrono::nanoseconds cost_{0};
  std::chrono::nanoseconds read_at_{0};
  bool read_before_cell_ = false;
};

}  // namespace xleak::monitor
