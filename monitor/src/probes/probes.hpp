#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "probes/usage.hpp"
#include "xleak/monitor/cell_record.hpp"
#include "xleak/monitor/heap.hpp"

namespace xleak::monitor {

/// Where the numbers of a session come from; tests bring their own. Empty is unknown.
class Probes {
 public:
  Probes() = default;
  virtual ~Probes() = default;
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  /// Called by the sampling thread too.
  virtual std::optional<std::int64_t> resident_bytes() noexcept = 0;
  virtual std::optional<std::int64_t> high_water_bytes() noexcept = 0;
  virtual Usage usage() noexcept = 0;
  virtual std::optional<HeapUse> heap() noexcept = 0;
  virtual std::chrono::nanoseconds now() noexcept = 0;
  /// Large blocks are born in this cell from here on; 0: in none. Begins the peak of block_use().
  virtual void births_belong_to(int cell) noexcept = 0;
  /// Of the cell that births belong to.
  virtual std::optional<BlockUse> block_use() noexcept = 0;
};

/// The probes of this process. What cannot be opened stays unknown.
std::unique_ptr<Probes> live_probes();

}  // namespace xleak::monitor
