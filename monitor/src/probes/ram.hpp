#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xleak::monitor {

/// MemTotal of the text of /proc/meminfo, in bytes. Empty when the line is absent.
std::optional<std::int64_t> parse_meminfo_total(std::string_view text);

/// A limit file of a memory cgroup, in bytes. Empty for "max" and for what is no number.
std::optional<std::int64_t> parse_cgroup_limit(std::string_view text);

/// The files that may limit a process with this /proc/<pid>/cgroup, its own group first, then all
/// groups above it. A container often sees only the last of them.
std::vector<std::string> cgroup_limit_files(std::string_view text);

}  // namespace xleak::monitor
