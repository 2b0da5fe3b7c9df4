#pragma once
#include <optional>

#include "xleak/monitor/heap.hpp"

namespace xleak::monitor {

/// As read_heap(); empty where malloc is not glibc's own.
std::optional<HeapUse> try_read_heap() noexcept;

}  // namespace xleak::monitor
