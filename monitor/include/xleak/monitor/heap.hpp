#pragma once
#include <cstdint>
#include <optional>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// The C heap of this process, all arenas, as mallinfo2 counts it.
struct HeapUse {
  std::int64_t used_bytes = 0;  ///< Handed out by malloc, mapped blocks included.
  std::int64_t free_bytes = 0;  ///< Kept by malloc for later.
  /// In use without the blocks that the ledger knows; empty where that is off.
  std::optional<std::int64_t> small_bytes = std::nullopt;
  std::int64_t free_pieces = 0;  ///< Number of pieces that `free_bytes` come in.
};

/// Reads the C heap now; milliseconds where it holds 100,000 free pieces. Throws Error where malloc
/// is not glibc's own (2.33 or later).
XLEAK_MONITOR_API HeapUse read_heap();

/// What trim_heap() would return at least, where the main thread freed it. Reads malloc's lists and
/// /proc/self/smaps up to the heap, milliseconds in all; empty where either cannot be had.
XLEAK_MONITOR_API std::optional<std::int64_t> releasable_heap_bytes();

/// Returns free pages of the C heap to the system: the bytes by which the resident size fell, never
/// below 0. Throws Error where either cannot be had.
XLEAK_MONITOR_API std::int64_t trim_heap();

}  // namespace xleak::monitor
