#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "xleak/monitor/cell_record.hpp"
#include "xleak/monitor/device_reader.hpp"
#include "xleak/monitor/export.hpp"
#include "xleak/monitor/flight_record.hpp"
#include "xleak/monitor/guard.hpp"
#include "xleak/monitor/large_vector.hpp"
#include "xleak/monitor/smell.hpp"

namespace xleak::monitor {

class Probes;

/// A finding together with the smell that made it.
struct Verdict {
  const Smell* smell;
  Finding finding;
  Severity severity;
};

/// What changed by one look at the facts.
struct Judgement {
  std::vector<Verdict> added;
  std::vector<Verdict> changed;   ///< Known by its key; the bytes or holders moved.
  std::vector<Verdict> resolved;  ///< No longer so.
};

/// The one owner of all state: records of cells and findings. Safe to use from every thread. In a
/// forked child it accounts nothing, knows nothing and waits for nothing.
class XLEAK_MONITOR_API Session {
 public:
  /// The session of this process; lives until the process ends.
  static Session& instance();

  Session();
  /// Takes its numbers from `probes`; for tests.
  explicit Session(std::unique_ptr<Probes> probes);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Starts the account of a cell and returns its index (from 1), or 0 where accounting is off.
  int begin_cell(const CellIdentity& identity, const InterpreterReading& before) noexcept;
  /// Ends it. Does nothing for an index that is 0, unknown or already ended.
  void end_cell(int index, CellStatus status, const std::optional<int>& execution_count,
                const InterpreterReading& after) noexcept;

  /// xleak itself made this of Python's allocator between two cells, or within one: no cell kept
  /// it.
  void exclude_python_use(std::int64_t blocks, std::int64_t bytes) noexcept;

  /// The cell is xleak's own: it keeps its record, and nothing is concluded from its numbers.
  void mark_own(int index) noexcept;

  /// All records, oldest first.
  LargeVector<CellRecord> records() const;
  /// That of the cell that began last.
  std::optional<CellRecord> latest_record() const;
  /// The record of one index; empty where there is none.
  std::optional<CellRecord> record(int index) const;
  /// The cell that began last of those that run, without its devices; empty between cells, or where
  /// a size is unknown.
  std::optional<LiveCell> running() const;
  /// What the process takes now; empty where it cannot be read.
  std::optional<std::int64_t> resident_bytes() const;
  /// What one cell changed; nothing for one of xleak's own, or an index without a record.
  CellChange change_of(int index) const;

  /// From now on `listener` gets a cell that has run for 250 ms, at most 4 times a second; an empty
  /// one ends it. The sampling thread calls it, with the session locked, so that nothing comes
  /// after the end of a cell: it must not throw, wait or call back.
  void follow(std::function<void(const LiveCell&)> listener);
  /// Where the devices of such a cell are read. `reader` stays mapped until the process ends.
  void read_devices_by(DeviceReader reader) noexcept;

  /// From now on `beat` is called every 50 ms while a cell runs that has run for 100 ms; an empty
  /// one ends it. By the sampling thread, without a lock: it must not throw or wait.
  void beat_by(std::function<void()> beat);

  /// What watches the limits of the process; it is off until it gets a policy.
  Guard& guard() noexcept;
  /// From now on the last cell and its sizes are kept in a file at `path`, which is made again and
  /// outlives a SIGKILL; one that was kept before is dropped. Throws Error where it cannot be made.
  void keep_flight_record(const std::string& path, const FlightIdentity& identity);
  /// Deletes that file, if there is one: the session ends as it should, or is no longer watched.
  void drop_flight_record() noexcept;
  /// What the next cell is, for that file alone. `source` is cut to kFlightSourceBytes.
  void announce_cell(std::string_view source, std::optional<int> execution_count) noexcept;
  /// The reply to the cell that ended last is sent, for that file alone: who is killed before was
  /// not between cells yet.
  void cell_answered() noexcept;
  /// A front end has asked the process to end; if it is killed now, that is why. From any thread.
  void asked_to_end() noexcept;

  /// Runs every smell over the facts, which must be complete: what they no longer show is resolved.
  /// Adds what its records tell of devices.
  Judgement judge(SessionView view);
  /// From now on the rules with these codes find nothing.
  void set_rules_off(std::set<std::string> codes);
  /// What is known to leak, most bytes first.
  std::vector<Verdict> findings() const;

  void set_enabled(bool enabled) noexcept;
  bool enabled() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Brackets one cell. Leaving the scope, by any path, completes its record.
class XLEAK_MONITOR_API CellScope {
 public:
  CellScope(Session& session, const CellIdentity& identity,
            const InterpreterReading& before) noexcept
      : session_(session), index_(session.begin_cell(identity, before)) {}
  ~CellScope() { complete(CellStatus::error, std::nullopt, {}); }
  CellScope(const CellScope&) = delete;
  CellScope& operator=(const CellScope&) = delete;

  int index() const noexcept { return index_; }
  /// The first call counts.
  void complete(CellStatus status, const std::optional<int>& execution_count,
                const InterpreterReading& after) noexcept {
    if (completed_) return;
    completed_ = true;
    session_.end_cell(index_, status, execution_count, after);
  }

 private:
  Session& session_;
  int index_;
  bool completed_ = false;
};

/// Every smell that is built in.
XLEAK_MONITOR_API std::vector<const Smell*> all_smells();

}  // namespace xleak::monitor
