#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/cgroup.hpp"
#include "probes/other_processes.hpp"
#include "proc_file.hpp"
#include "xleak/monitor/guard.hpp"

namespace xleak::monitor {

/// What this process has, by /proc/self/status. Sizes in bytes.
struct OwnMemory {
  std::int64_t resident_bytes = 0;  ///< With pages of files.
  std::int64_t held_bytes = 0;      ///< Without them, with what was swapped out.
  std::int64_t size_bytes = 0;      ///< What RLIMIT_AS counts (getrlimit(2)).
  std::int64_t data_bytes = 0;      ///< What RLIMIT_DATA counts.
};

/// The limits that this process shares with others: that of its tightest cgroup, and the machine's.
class SharedLimits {
 public:
  /// The cgroups are those that the process is in now. Throws Error where /proc cannot be read.
  SharedLimits();
  /// Without what this process has of each. Throws Error.
  std::vector<LimitReading> read() const;
  /// The one with the least left; empty where none can be read.
  std::optional<LimitReading> tightest() const noexcept;

 private:
  std::optional<LimitReading> tightest_group(std::int64_t swap_free_bytes) const;

  std::vector<std::unique_ptr<Cgroup>> groups_ = cgroups_of_this_process();
  ProcFile meminfo_{"/proc/meminfo"};
};

/// Where the numbers of a guard come from; tests bring their own. Empty is unknown.
class GuardProbes {
 public:
  GuardProbes() = default;
  virtual ~GuardProbes() = default;
  GuardProbes(const GuardProbes&) = delete;
  GuardProbes& operator=(const GuardProbes&) = delete;

  virtual std::optional<OwnMemory> own() noexcept = 0;
  /// Those of the host. Called by the guard's thread, as the two below.
  virtual std::vector<LimitReading> limits() noexcept = 0;
  virtual std::vector<DeviceReading> devices() noexcept = 0;
  /// The process that holds most of what counts against a limit of the host's, but this one.
  virtual std::optional<OtherProcess> largest_other(const LimitReading& reading) noexcept = 0;
  virtual double seconds() noexcept = 0;
};

/// Those of this process; null where /proc cannot be read. `devices` reads what the frameworks
/// have.
std::unique_ptr<GuardProbes> live_guard_probes(std::function<std::vector<DeviceReading>()> devices);

/// Of the text of /proc/<pid>/status; empty when a line is absent.
std::optional<OwnMemory> parse_status(std::string_view text);
/// The machine's memory and swap, of the text of /proc/meminfo; empty when a line is absent.
std::optional<LimitReading> parse_meminfo(std::string_view text);

}  // namespace xleak::monitor
