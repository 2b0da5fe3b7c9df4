#pragma once
#include <cstdint>
#include <vector>

#include "xleak/monitor/export.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// What the pages of this process that are in memory were mapped for. Bytes.
struct ProcessPages {
  std::int64_t files = 0;   ///< Mapped files, and the data of libraries that starts as zeros.
  std::int64_t shared = 0;  ///< Without a file on a disk, for several processes: /dev/shm, memfd.
  std::int64_t others = 0;  ///< This process's alone, without a file: the C heap, maps, stacks.
  std::int64_t free_heap = 0;      ///< Of the others: what malloc keeps for later.
  std::int64_t small_heap = 0;     ///< Of the others: what malloc gave out in less than 64 KiB.
  std::vector<LargeBlock> blocks;  ///< Of the others: those that were alive, by address.
};

/// Reads them now: a millisecond for each 500 maps or so. Throws Error where the system does not
/// say, or where malloc is not glibc's own.
XLEAK_MONITOR_API ProcessPages process_pages();

/// How much of some large blocks is in memory or swapped out, in their order.
XLEAK_MONITOR_API std::vector<std::int64_t> resident_bytes(const std::vector<LargeBlock>& blocks);

}  // namespace xleak::monitor
