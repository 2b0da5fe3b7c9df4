#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xleak/monitor/flight_record.hpp"

namespace xleak::monitor {

/// The number of an "oom_kill N" line, as memory.events, memory.oom_control and /proc/vmstat have
/// it (cgroup-v2.rst; cgroup v1 since Linux 4.13). Empty where there is none.
std::optional<std::int64_t> parse_oom_kills(std::string_view text);

/// The file where the control group of this process counts; empty where there is none.
std::string group_kills_file();
/// Whether `path` may be such a file. A record names one, and who reads it opens what it names.
bool is_group_kills_file(std::string_view path);

/// The counts as they are now; `group_file` as group_kills_file() gives it, or empty. Allocates
/// nothing.
OomKills oom_kills(const std::string& group_file) noexcept;

}  // namespace xleak::monitor
