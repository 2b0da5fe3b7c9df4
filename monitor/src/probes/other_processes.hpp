#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xleak::monitor {

struct OtherProcess {
  int pid = 0;
  std::string name;
  std::int64_t held_bytes = 0;
  /// Where this process or a child of it started that one: how many there are of those, and what
  /// all of them hold.
  int children = 0;
  std::int64_t children_bytes = 0;
};

/// All that can be seen from here but this process; those of a cgroup, or of the machine where
/// `group` is empty.
std::vector<OtherProcess> other_processes(const std::string& group);

/// What a process holds alone but for pages of files, of the text of /proc/<pid>/smaps_rollup;
/// empty when a line is absent.
std::optional<std::int64_t> parse_unshared(std::string_view text);

}  // namespace xleak::monitor
