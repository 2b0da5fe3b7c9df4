#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xleak/monitor/cell_record.hpp"
#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

class GuardProbes;

enum class GuardPolicy { off, warn, interrupt };
enum class GuardLevel { normal, warning, critical };
/// The cgroup, RLIMIT_AS, RLIMIT_DATA, the memory of the machine with its swap, that of a device.
enum class GuardLimit { cgroup, address_space, data, machine, device };

/// As share/comm/v1.schema.json has them; both RLIMITs are the address space there.
XLEAK_MONITOR_API const char* name_of(GuardLevel level);
XLEAK_MONITOR_API const char* name_of(GuardLimit limit);

/// How near one limit is. Sizes in bytes.
struct LimitReading {
  GuardLimit limit;
  std::string device = "host";  ///< As torch writes it where the limit is a device's.
  std::int64_t used_bytes = 0;  ///< What cannot be reclaimed: never page cache.
  std::int64_t limit_bytes = 0;
  std::int64_t own_bytes = 0;  ///< What this process has of it.
  std::string group = {};      ///< The path of the cgroup whose limit it is.
};

/// The limits of the host's on this process as they are now; empty where none can be read.
XLEAK_MONITOR_API std::vector<LimitReading> read_host_limits() noexcept;

/// One thing to be told.
struct GuardNote {
  LimitReading reading;
  GuardLevel level = GuardLevel::normal;
  int index = 0;                                 ///< The cell that ran, or 0.
  std::optional<std::int64_t> grown_bytes = {};  ///< By this process since that cell began.
  std::string sentence = {};
  bool again = false;  ///< As a reason to stop: the cell was stopped before and went on growing.
};

/// A limit as it was last read. It is short below `warning_bytes`, nearly out below
/// `critical_bytes` of free memory.
struct LimitState {
  LimitReading reading;
  GuardLevel level = GuardLevel::normal;
  std::int64_t warning_bytes = 0;
  std::int64_t critical_bytes = 0;
};

/// Watches the limits of the process on a thread of its own, which takes no signals and needs no
/// lock of Python's. Safe to use from every thread; in a forked child it does nothing.
class XLEAK_MONITOR_API Guard {
 public:
  /// Without probes it stays off.
  explicit Guard(std::unique_ptr<GuardProbes> probes);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Starts as `off`. Where no thread can be had the policy stays off.
  void set_policy(GuardPolicy policy) noexcept;
  GuardPolicy policy() const noexcept;

  /// `devices`: as the cell finds them. A limit of those without a total is unknown.
  void begin_cell(int index, const std::vector<DeviceReading>& devices) noexcept;
  void end_cell(int index) noexcept;
  /// A sample of the resident size while a cell runs; never waits for a reading.
  void sampled(std::int64_t resident_bytes) noexcept;

  /// From now on `tell` gets every change of a level; by the thread, which holds no lock. It must
  /// not throw. An empty function ends it.
  void tell_by(std::function<void(const GuardNote&)> tell);
  /// From now on gets the resident size at each look while no cell runs; by the thread, which holds
  /// no lock. It must not throw.
  void tell_rest_by(std::function<void(std::int64_t resident_bytes)> tell);
  /// From now on called while a cell runs and the main thread has something to take here, until it
  /// has; by the thread. It must not throw or wait.
  void call_main_by(std::function<void()> call);

  /// What is to be read under a cell, once: a level that was reached, the growth of a long cell.
  std::vector<GuardNote> take_lines();
  /// Why the running cell is to be interrupted; empty where it is not, or no longer.
  std::optional<GuardNote> reason_to_stop() const;
  /// It was interrupted: not again before half of the rest is gone too, memory was enough in
  /// between, or another cell has grown.
  void stopped() noexcept;

  /// Reads all limits now.
  void look();
  std::vector<LimitState> states() const;
  /// What is to be told of limits that are near by who comes only now.
  std::vector<GuardNote> near_limits() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xleak::monitor
