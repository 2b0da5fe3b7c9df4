#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// What a framework reports of one device. Empty where it reports nothing.
struct DeviceReading {
  std::string device;  ///< As torch writes it: "cuda:0".
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> reserved_bytes;
  std::optional<std::int64_t>
      peak_bytes;  ///< The framework's own high-water mark since its last reset.
  /// Free, but in a segment that is partly in use.
  std::optional<std::int64_t> inactive_split_bytes = std::nullopt;
  /// All that it ever handed out.
  std::optional<std::int64_t> handed_out_bytes = std::nullopt;
  /// At the end of a cell that was followed: the most that was live at once.
  std::optional<std::int64_t> cell_peak_bytes = std::nullopt;
  std::optional<std::int64_t> total_bytes = std::nullopt;  ///< All that the framework can have.
};

/// What a cell did to the tensors on the host, by torch's own allocator.
struct TensorUse {
  std::int64_t kept_bytes = 0;
  std::int64_t peak_bytes = 0;       ///< The most that was live at once during it.
  std::int64_t allocated_bytes = 0;  ///< All that was asked for, also what was freed within it.
};

/// What a cell did by the ledger of blocks of 64 KiB and more, of all libraries.
struct BlockUse {
  std::int64_t alive_bytes = 0;  ///< Born in it and alive at its end.
  /// The most of the heap that was alive at once, above what was alive when it began.
  std::int64_t peak_bytes = 0;
  /// What was alive then, of all births, by the line that made it, largest first.
  std::vector<AtPeak> at_peak;
};

/// What only the interpreter can tell, read by the caller on both sides of a cell.
struct InterpreterReading {
  std::optional<std::int64_t>
      python_blocks;  ///< sys.getallocatedblocks() at its end, where it was asked.
  std::vector<DeviceReading> devices;
  /// At the end of a cell, where tensors are counted.
  std::optional<TensorUse> tensors = std::nullopt;
  /// In use in CPython's pools, where the blocks were counted.
  std::optional<std::int64_t> python_bytes = std::nullopt;
};

/// Who a cell is.
struct CellIdentity {
  std::optional<std::string> cell_id;  ///< The front end's id; empty where it sends none.
  std::optional<int> execution_count;  ///< The n of In[n]; empty for a cell that got none.
};

enum class CellStatus { running, ok, error };

struct DeviceUse {
  std::string device;
  std::optional<std::int64_t> allocated_kept_bytes;
  /// Exact. Empty where nobody followed the cell and the framework's high-water mark did not rise.
  std::optional<std::int64_t> allocated_peak_bytes;
  std::optional<std::int64_t> reserved_bytes;  ///< After the cell, as the two that follow.
  std::optional<std::int64_t> allocated_bytes = std::nullopt;
  std::optional<std::int64_t> inactive_split_bytes = std::nullopt;
  std::optional<std::int64_t> handed_out_bytes = std::nullopt;  ///< During the cell.
  std::optional<std::int64_t> total_bytes = std::nullopt;       ///< All that there is to have.
};

/// What one cell did to the process. Empty means unknown, never zero.
struct CellRecord {
  int index = 0;  ///< Cells in the order of their execution, from 1.
  CellIdentity identity;
  CellStatus status = CellStatus::running;
  bool is_own = false;  ///< Nothing but commands of xleak's: it counts in no sum.
  double seconds = 0;
  double cpu_seconds = 0;  ///< User and system time of all threads.
  std::optional<std::int64_t> resident_before_bytes;
  std::optional<std::int64_t> resident_after_bytes;
  std::optional<std::int64_t> resident_peak_bytes;
  bool peak_is_exact = false;  ///< True where the process's high-water mark rose during the cell.
  std::optional<std::int64_t> heap_kept_bytes;  ///< C heap in use, after minus before.
  /// Without the blocks that the ledger knows, since the last reading; empty where that is off or
  /// the heap was not read.
  std::optional<std::int64_t> small_heap_kept_bytes;
  std::optional<std::int64_t> heap_free_bytes;     ///< Held by malloc but free, after the cell.
  std::optional<std::int64_t> python_blocks_kept;  ///< Since the last cell that was counted.
  std::optional<std::int64_t> python_bytes_kept;   ///< Likewise, in CPython's pools.
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::vector<DeviceUse> devices;
  std::optional<TensorUse> tensors;  ///< Empty where nobody counted them.
  std::optional<BlockUse> blocks;    ///< Empty where the ledger is off.
};

/// What a cell that runs has done so far.
struct LiveCell {
  int index = 0;  ///< As its record will have.
  std::optional<std::string> cell_id;
  double seconds = 0;
  std::int64_t resident_before_bytes = 0;
  std::int64_t resident_bytes = 0;
  std::vector<DeviceReading> devices;  ///< Device, allocated and reserved; of those in use.
};

/// What a record says of whether a cell is worth a look. Unknown numbers count as 0.
struct CellChange {
  bool heap_is_known = false;
  std::int64_t moved_bytes = 0;  ///< Up or down, by the counter that moved most.
  std::int64_t kept_bytes = 0;   ///< Of the C heap.
  std::int64_t spike_bytes = 0;  ///< By how much the resident peak stood above the end.
};

}  // namespace xleak::monitor
