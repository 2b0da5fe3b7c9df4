#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "heap_budget.hpp"
#include "peak_sampler.hpp"
#include "probes/probes.hpp"
#include "xleak/monitor/cell_record.hpp"

namespace xleak::monitor {

/// The account of all cells. Not locked: its owner does that.
class Ledger {
 public:
  /// `sampled`: gets each sample of the resident size, by the sampling thread; must not throw.
  explicit Ledger(Probes& probes, std::function<void(std::int64_t)> sampled = nullptr);

  /// Starts a record and returns its index, from 1.
  int open(const CellIdentity& identity, const InterpreterReading& before);
  /// Completes it. Cells may overlap; an index that is not open is left alone.
  void close(int index, CellStatus status, const std::optional<int>& execution_count,
             const InterpreterReading& after);
  /// Has `tell` called by the sampling thread while cells run; see PeakSampler::follow.
  void follow(PeakSampler::Tell tell) { sampler_.follow(std::move(tell)); }
  void beat_by(std::function<void()> beat) { sampler_.beat_by(std::move(beat)); }
  /// See Session::exclude_python_use.
  void exclude_python_use(std::int64_t blocks, std::int64_t bytes) noexcept;
  /// The cell is xleak's own, not the user's; an index without a record is left alone.
  void mark_own(int index) noexcept;
  /// A cell that runs; empty once it has ended, or where its start is unknown.
  std::optional<LiveCell> live(int index, double seconds, std::int64_t resident_bytes) const;
  /// The one that began last of those that run, as it is now.
  std::optional<LiveCell> running() const;
  /// The next cell has no cell before it: what ran in between was not seen.
  void forget_previous() noexcept { remember_python({}); }

  const std::deque<CellRecord>& records() const noexcept { return records_; }
  /// See Session::change_of.
  CellChange change_of(int index) const;

 private:
  struct Before {
    int index = 0;
    std::optional<std::int64_t> resident_bytes;
    std::optional<std::int64_t> high_water_bytes;  ///< Read only below an inherited mark.
    std::optional<HeapUse> heap;
    std::optional<HeapUse> last_heap;  ///< Where it was not read again it has not moved.
    std::vector<DeviceReading> devices;
    Usage usage;
    std::chrono::nanoseconds started{0};
  };

  void start_sampler(int index) noexcept;
  void measure(CellRecord& record, const Before& before);
  void measure_resident(CellRecord& record, const Before& before, const Usage& usage);
  /// The high-water mark where it rose since the beginning of the cell.
  std::optional<std::int64_t> raised_mark(const Before& before, const Usage& usage) noexcept;
  void count_python(CellRecord& record, const InterpreterReading& after) noexcept;
  void remember_python(const InterpreterReading& reading) noexcept;

  Probes& probes_;
  HeapBudget heap_;
  PeakSampler sampler_;
  std::deque<CellRecord> records_;  ///< None is copied when another cell comes.
  std::vector<Before> running_;
  std::optional<std::int64_t> previous_python_blocks_;
  std::optional<std::int64_t> previous_python_bytes_;
  std::int64_t inherited_mark_bytes_;
};

}  // namespace xleak::monitor
