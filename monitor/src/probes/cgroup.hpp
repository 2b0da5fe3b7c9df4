#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proc_file.hpp"
#include "xleak/monitor/guard.hpp"

namespace xleak::monitor {

/// A memory cgroup of version 1 or 2, and the limit that it may have.
class Cgroup {
 public:
  /// `limit_file`: its memory.max or memory.limit_in_bytes, somewhere below `mount`. Throws Error
  /// where it cannot be opened.
  Cgroup(std::string limit_file, const std::string& mount);

  /// What it may still swap out of what may be above it; all of that in version 1.
  std::int64_t swap_left(std::int64_t left_above_bytes) const;
  /// Its limit, with the swap that it has and may still have, and what its processes use: what
  /// cannot be reclaimed, and what was swapped out. Empty without a limit. Throws Error.
  std::optional<LimitReading> read(std::int64_t swap_left_bytes) const;

 private:
  std::string limit_file_;
  ProcFile limit_;  ///< Read each time, for it may be changed.
  bool is_v2_;
  std::string folder_;
  std::string path_;  ///< As /proc/<pid>/cgroup has it.
};

/// Those of which the limits hold for this process, its own before those above it.
std::vector<std::unique_ptr<Cgroup>> cgroups_of_this_process();

/// A field of a memory.stat file.
std::optional<std::int64_t> stat_field(std::string_view text, std::string_view key);
/// What cannot be reclaimed of a group of version 1, by memory.stat: not its page cache.
std::optional<std::int64_t> unreclaimable_v1(std::string_view stat);
/// The same of version 2, of what memory.current says is in use.
std::optional<std::int64_t> unreclaimable_v2(std::string_view stat, std::int64_t current_bytes);

}  // namespace xleak::monitor
