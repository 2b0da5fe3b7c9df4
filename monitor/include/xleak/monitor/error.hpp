#pragma once
#include <stdexcept>
#include <string>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// "Could not measure": cannot do X: reason. What follows. What to do.
struct XLEAK_MONITOR_API Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Error with the text of errno behind `doing`.
[[noreturn]] XLEAK_MONITOR_API void throw_errno(const std::string& doing);

}  // namespace xleak::monitor
