#pragma once
#include <cstdint>
#include <optional>

namespace xleak::facts {

/// CPython's own pools, for objects up to 512 bytes. Bytes.
struct PythonPools {
  std::int64_t used = 0;
  std::int64_t arenas = 0;  ///< What they have of the system.
};

/// By CPython's own statistics; empty where the interpreter does not export them. Walks the arenas:
/// milliseconds on a large heap.
std::optional<PythonPools> python_pools();

}  // namespace xleak::facts
