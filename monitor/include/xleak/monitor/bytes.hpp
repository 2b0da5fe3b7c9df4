#pragma once
#include <cstdint>
#include <string>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// A size as people read it, in binary units: "64 MiB", "1.5 GiB", "-3 KiB".
XLEAK_MONITOR_API std::string human(std::int64_t bytes);

}  // namespace xleak::monitor
