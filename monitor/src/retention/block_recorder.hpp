#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "retention/block_sums.hpp"
#include "retention/block_table.hpp"
#include "retention/sites.hpp"
#include "retention/thread_slots.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// What the allocation functions say, in the table and in the sums. Nothing here waits or takes
/// memory from an allocator; errno stays as it is.
class BlockRecorder {
 public:
  /// Forgets everything and records, or does neither from here on.
  void begin() noexcept;
  void end() noexcept;
  /// Records nothing from here on; the table stands still. For a process that was forked.
  void stop() noexcept { records_.store(false, std::memory_order_relaxed); }
  bool records() const noexcept { return records_.load(std::memory_order_relaxed); }
  void births_belong_to(std::uint32_t cell) noexcept;

  /// A block that was just made; null is none.
  void born(const void* block, std::size_t bytes, BlockKind kind) noexcept;
  /// A block that is about to be released: afterwards another thread may have its address.
  std::optional<KnownBlock> gone(const void* block) noexcept;
  /// A block that was gone is still there, since the call failed.
  void put_back(const KnownBlock& block) noexcept;
  /// One that grew is born again: what is new in it belongs to the line that asked for it. One that
  /// shrank or only moved keeps its birth.
  void resized(const std::optional<KnownBlock>& before, const void* now, std::size_t bytes,
               BlockKind kind) noexcept;
  /// These pages go, whichever maps they are of; what of a map lies before and behind stays.
  void unmapped(const void* begin, std::size_t bytes) noexcept;
  /// Found to be released by a way that was not seen.
  void drop(const KnownBlock& block) noexcept;

  const BlockTable& table() const noexcept { return table_; }
  BlockSums sums() noexcept;
  std::vector<AtPeak> made_up_the_peak() { return sums_.made_up_the_peak(); }
  /// The number of the last birth.
  std::uint32_t last_order() const noexcept { return order_.load(std::memory_order_relaxed); }

 private:
  std::uint32_t next_order() noexcept;
  void put(const KnownBlock& block) noexcept;
  void count(const KnownBlock& block, std::int64_t sign) noexcept;
  void cut(const KnownBlock& map, std::uintptr_t begin, std::uintptr_t end) noexcept;

  std::atomic<bool> records_{false};
  std::atomic<std::uint32_t> cell_{0};
  std::atomic<std::uint32_t> order_{0};
  std::atomic<std::int64_t> mapped_bytes_{0};
  BlockTable table_;
  BlockSumsByLine sums_;
};

// A locked addition would cost as much as all the rest. Two threads may draw the same number.
inline std::uint32_t BlockRecorder::next_order() noexcept {
  const std::uint32_t order = order_.load(std::memory_order_relaxed) + 1;
  order_.store(order, std::memory_order_relaxed);
  return order;
}

inline void BlockRecorder::count(const KnownBlock& block, std::int64_t sign) noexcept {
  if (block.kind == BlockKind::heap) {
    sums_.add(sign * block.bytes, block.site);
  } else if (block.kind == BlockKind::anonymous_map) {
    mapped_bytes_.fetch_add(sign * block.bytes, std::memory_order_relaxed);
  }
}

inline void BlockRecorder::put(const KnownBlock& block) noexcept {
  std::optional<KnownBlock> replaced;
  if (!table_.put(block, replaced)) return;
  if (replaced) count(*replaced, -1);
  count(block, 1);
}

inline void BlockRecorder::born(const void* block, std::size_t bytes, BlockKind kind) noexcept {
  if (block == nullptr || !records()) return;
  ThisThread& thread = assigned_thread();
  KnownBlock known{reinterpret_cast<std::uintptr_t>(block),
                   static_cast<std::int64_t>(bytes),
                   kind,
                   0,
                   next_order(),
                   0,
                   thread.number};
  if (kind != BlockKind::python_arena) {
    known.cell = cell_.load(std::memory_order_relaxed);
    // Else a signal handler came in between, and the reader is not made to be entered twice.
    if (!thread.reads_site) {
      thread.reads_site = true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      known.site = static_cast<std::uint16_t>(site_of_this_thread());
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread.reads_site = false;
    }
  }
  put(known);
}

inline std::optional<KnownBlock> BlockRecorder::gone(const void* block) noexcept {
  if (!records()) return std::nullopt;
  const auto known = table_.take(reinterpret_cast<std::uintptr_t>(block));
  if (known) count(*known, -1);
  return known;
}

/// Of the process. Nothing destroys it: allocators are called until the very end.
extern BlockRecorder recorder __attribute__((visibility("hidden")));

}  // namespace xleak::monitor
