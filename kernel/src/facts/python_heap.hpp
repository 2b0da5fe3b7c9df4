#pragma once
#include <cstdint>
#include <optional>

namespace xleak::facts {

/// Bytes in use in CPython's own pools (objects up to 512 bytes), by its own statistics. Empty
/// where the interpreter does not export them. Walks the arenas: milliseconds on a large heap.
std::optional<std::int64_t> python_pool_bytes();

}  // namespace xleak::facts
