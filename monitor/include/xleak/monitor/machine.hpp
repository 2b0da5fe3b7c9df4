#pragma once
#include <cstdint>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// Memory of the machine, or of the cgroup of this process where that is less. Throws Error where
/// /proc/meminfo cannot be read.
XLEAK_MONITOR_API std::int64_t ram_bytes();

}  // namespace xleak::monitor
