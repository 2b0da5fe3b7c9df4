#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// From here on a block is large.
constexpr std::size_t kLargeBytes = std::size_t{64} << 10;

/// What is kept of one live block.
struct KnownBlock {
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;  ///< That were asked for; of a map: its length.
  BlockKind kind = BlockKind::heap;
  std::uint32_t cell = 0;
  std::uint32_t order = 0;
  std::uint16_t site = 0;
  std::uint16_t thread = 0;
};

/// The live large blocks by address, without hash and without locks. A large block has at least
/// 64 KiB, so at most one begins in each piece of 64 KiB of the address space: the number of the
/// piece is the index. An address belongs to one thread at a time, between the allocation and the
/// release, so nobody else writes its entry; an entry is published by its address and withdrawn by
/// a zero. Safe in threads, after a fork and in signal handlers; takes no memory from an allocator.
///
/// There is no destructor: allocators are called until the very end of the process.
class BlockTable {
 public:
  /// `replaced` is the block whose place it takes: one that was released without this table hearing
  /// of it. False where the system gives no memory, or for an address beyond all that it gives.
  bool put(const KnownBlock& block, std::optional<KnownBlock>& replaced) noexcept;
  /// Removes and returns the block that begins here.
  std::optional<KnownBlock> take(std::uintptr_t address) noexcept;
  /// The block that begins here.
  std::optional<KnownBlock> at(std::uintptr_t address) const noexcept;
  /// The last block that begins at or before the address, if it reaches over it.
  std::optional<KnownBlock> covering(std::uintptr_t address) const noexcept;
  /// The first block that begins in [begin, end).
  std::optional<KnownBlock> first_in(std::uintptr_t begin, std::uintptr_t end) const noexcept;
  /// Calls f with a copy of each block in the order of addresses; those that come and go meanwhile
  /// may be in or out.
  template <class F>
  void each(F f) const;
  /// Whoever is in the middle of put() meanwhile leaves nothing behind that is seen later.
  void forget_all() noexcept;

 private:
  static constexpr unsigned kPieceBits = 16;
  static constexpr unsigned kLeafBits = 16;
  // User space of x86-64 without its fifth level of page tables, which mmap uses only if asked to.
  static constexpr unsigned kAddressBits = 47;
  static constexpr std::size_t kLeaves = std::size_t{1} << (kAddressBits - kPieceBits - kLeafBits);
  static constexpr std::size_t kEntries = std::size_t{1} << kLeafBits;
  // Entries on one page of memory: a group that was never written is not read.
  static constexpr std::size_t kGroup = 128;
  static constexpr std::size_t kGroupWords = kEntries / kGroup / 64;

  /// Each field is atomic for the sake of each(); only `address` orders anything.
  struct Entry {
    std::atomic<std::uintptr_t> address;
    std::atomic<std::uint64_t> bytes_and_kind;
    std::atomic<std::uint32_t> cell;
    std::atomic<std::uint32_t> order;
    std::atomic<std::uint16_t> site;
    std::atomic<std::uint16_t> thread;
    std::atomic<std::uint32_t> generation;
  };
  static_assert(sizeof(Entry) * kGroup == 4096);

  struct Leaf {
    std::array<Entry, kEntries> entries;
    std::array<std::atomic<std::uint64_t>, kGroupWords> written;  ///< One bit for each group.
  };

  static std::size_t index_of(std::uintptr_t address) noexcept {
    return (address >> kPieceBits) % kEntries;
  }
  Leaf* leaf_of(std::uintptr_t address) const noexcept {
    if (address >> kAddressBits != 0) return nullptr;
    return leaves_[address >> (kPieceBits + kLeafBits)].load(std::memory_order_acquire);
  }
  Leaf* make_leaf(std::uintptr_t address) noexcept;
  KnownBlock read(const Entry& entry, std::uintptr_t address) const noexcept;
  bool is_current(const Entry& entry) const noexcept;
  std::optional<KnownBlock> copy(const Entry& entry) const noexcept;
  /// The last block of this leaf that begins at or before the address, searched from the index
  /// down.
  const Entry* last_before(const Leaf& leaf, std::size_t index,
                           std::uintptr_t address) const noexcept;

  std::array<std::atomic<Leaf*>, kLeaves> leaves_{};
  std::atomic<std::uint32_t> generation_{1};
};

inline bool BlockTable::is_current(const Entry& entry) const noexcept {
  return entry.generation.load(std::memory_order_relaxed) ==
         generation_.load(std::memory_order_relaxed);
}

inline KnownBlock BlockTable::read(const Entry& entry, std::uintptr_t address) const noexcept {
  const std::uint64_t bytes_and_kind = entry.bytes_and_kind.load(std::memory_order_relaxed);
  return {address,
          static_cast<std::int64_t>(bytes_and_kind >> 8),
          static_cast<BlockKind>(bytes_and_kind & 0xff),
          entry.cell.load(std::memory_order_relaxed),
          entry.order.load(std::memory_order_relaxed),
          entry.site.load(std::memory_order_relaxed),
          entry.thread.load(std::memory_order_relaxed)};
}

inline bool BlockTable::put(const KnownBlock& block, std::optional<KnownBlock>& replaced) noexcept {
  Leaf* leaf = leaf_of(block.address);
  if (leaf == nullptr) leaf = make_leaf(block.address);
  if (leaf == nullptr) return false;
  const std::size_t index = index_of(block.address);
  std::atomic<std::uint64_t>& written = leaf->written[index / kGroup / 64];
  const std::uint64_t bit = std::uint64_t{1} << (index / kGroup % 64);
  if ((written.load(std::memory_order_relaxed) & bit) == 0) {
    written.fetch_or(bit, std::memory_order_relaxed);
  }
  Entry& entry = leaf->entries[index];
  if (const auto address = entry.address.load(std::memory_order_relaxed); address != 0) {
    if (is_current(entry)) replaced = read(entry, address);
    entry.address.store(0, std::memory_order_release);
  }
  // Who sees one of the fields below sees that the address was withdrawn before.
  std::atomic_thread_fence(std::memory_order_release);
  const auto bytes_and_kind =
      static_cast<std::uint64_t>(block.bytes) << 8 | static_cast<std::uint64_t>(block.kind);
  entry.bytes_and_kind.store(bytes_and_kind, std::memory_order_relaxed);
  entry.cell.store(block.cell, std::memory_order_relaxed);
  entry.order.store(block.order, std::memory_order_relaxed);
  entry.site.store(block.site, std::memory_order_relaxed);
  entry.thread.store(block.thread, std::memory_order_relaxed);
  entry.generation.store(generation_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  entry.address.store(block.address, std::memory_order_release);
  return true;
}

inline std::optional<KnownBlock> BlockTable::take(std::uintptr_t address) noexcept {
  Leaf* leaf = leaf_of(address);
  if (leaf == nullptr) return std::nullopt;
  Entry& entry = leaf->entries[index_of(address)];
  if (entry.address.load(std::memory_order_relaxed) != address || address == 0) return std::nullopt;
  if (!is_current(entry)) return std::nullopt;
  const KnownBlock block = read(entry, address);
  entry.address.store(0, std::memory_order_release);
  return block;
}

template <class F>
void BlockTable::each(F f) const {
  for (const auto& slot : leaves_) {
    const Leaf* leaf = slot.load(std::memory_order_acquire);
    if (leaf == nullptr) continue;
    for (std::size_t group = 0; group < kEntries / kGroup; ++group) {
      const std::uint64_t word = leaf->written[group / 64].load(std::memory_order_relaxed);
      if ((word >> (group % 64) & 1) == 0) continue;
      for (std::size_t at = group * kGroup; at < (group + 1) * kGroup; ++at) {
        if (const auto block = copy(leaf->entries[at])) f(*block);
      }
    }
  }
}

}  // namespace xleak::monitor
