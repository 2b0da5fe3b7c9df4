#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// A place in the user's program: index into the table of sites. 0: no line of the user's is known.
using SiteIndex = std::uint32_t;

/// A place as a reader of frames finds it; both texts are UTF-8 and end in a zero.
struct SiteText {
  const char* file;
  const char* function;
  int line;
};

/// The index of this place, below 2^16; the same text always has the same. 0 where the table is
/// full or another thread is adding one: never waits, allocates nothing, may be called by a signal
/// handler. Texts that are too long lose their beginning, in whose place "…" stands.
XLEAK_MONITOR_API SiteIndex intern_site(const SiteText& text) noexcept;

struct Site {
  std::string file;
  std::string function;
  int line = 0;
};

/// The place of an index; empty for 0 and for one that was never given out.
XLEAK_MONITOR_API std::optional<Site> site_at(SiteIndex index);

/// Called for each large block, on the thread that asks for it, whether or not it holds the GIL.
/// Allocates nothing.
using SiteReader = SiteIndex (*)() noexcept;

/// Which function says where a thread is; null: no block has a line.
XLEAK_MONITOR_API void read_sites_by(SiteReader reader) noexcept;

enum class BlockKind : std::uint8_t {
  heap,           ///< Of malloc and its relatives.
  anonymous_map,  ///< Of mmap, without a file.
  file_map,       ///< Of mmap, with one.
  python_arena    ///< In which CPython keeps small objects: no cell's birth.
};

/// One live block of 64 KiB and more, whichever library asked for it.
struct LargeBlock {
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;  ///< As asked for; of a map without a file: what of it is in memory.
  BlockKind kind = BlockKind::heap;
  std::uint32_t cell = 0;   ///< Whose birth it is; 0: between cells, or no cell's.
  std::uint32_t order = 0;  ///< Of the births since the installation; wraps.
  SiteIndex site = 0;
  std::uint16_t thread = 0;         ///< A number for each thread that made a block, from 1.
  std::int64_t reserved_bytes = 0;  ///< Length of a map; 0 for a block of the heap.
};

struct LedgerState {
  bool installed = false;
  std::string reason;  ///< Why it is not, a sentence; empty while it is.
  int slots = 0;       ///< Import slots that it has rewritten and not given back.
};

/// From here on large blocks are known: the allocation functions are replaced in the import tables
/// of all loaded libraries, and of those that are loaded later. x86-64 with glibc. Where that
/// cannot be done without harm the state says why. Any number of calls are one.
XLEAK_MONITOR_API LedgerState install_ledger();
XLEAK_MONITOR_API LedgerState ledger_state();
/// The tables are as before, and nothing is known. Functions whose address somebody took meanwhile
/// go on working.
XLEAK_MONITOR_API void uninstall_ledger();

/// Whose blocks are born from here on; 0: no cell's. Begins a new peak too.
XLEAK_MONITOR_API void births_belong_to(std::uint32_t cell) noexcept;

/// All that are alive, by address. Those that turn out to be released, by a way that was not seen,
/// are dropped. Milliseconds where there are thousands.
XLEAK_MONITOR_API std::vector<LargeBlock> living_blocks();

/// The one of `blocks`, by address, that has an address; null where none does.
XLEAK_MONITOR_API const LargeBlock* block_with(const std::vector<LargeBlock>& blocks,
                                               std::uintptr_t address);

/// What of a part of the address space is in memory or swapped out. Half a millisecond a GiB; empty
/// where the system does not say.
XLEAK_MONITOR_API std::optional<std::int64_t> resident_bytes(std::uintptr_t begin,
                                                             std::int64_t length);

/// Of the heap alone: how much of a map is in memory cannot be counted as it happens.
struct BlockSums {
  std::int64_t alive_bytes = 0;
  std::int64_t peak_bytes = 0;    ///< Since births_belong_to().
  std::int64_t mapped_bytes = 0;  ///< Length of the maps without a file, touched or not.
};
XLEAK_MONITOR_API BlockSums block_sums() noexcept;

struct AtPeak {
  SiteIndex site = 0;
  std::int64_t bytes = 0;
};
/// What was alive at the peak since births_belong_to(), of all births, by the line that made it:
/// largest first.
XLEAK_MONITOR_API std::vector<AtPeak> made_up_the_peak();

}  // namespace xleak::monitor
