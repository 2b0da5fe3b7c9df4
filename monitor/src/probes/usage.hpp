#pragma once
#include <cstdint>

namespace xleak::monitor {

/// What getrusage counts for all threads of this process, children left out.
struct Usage {
  double cpu_seconds = 0;  ///< User and system.
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
};

Usage read_usage() noexcept;

}  // namespace xleak::monitor
