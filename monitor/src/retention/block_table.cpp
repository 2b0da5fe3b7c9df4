#include "retention/block_table.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace xleak::monitor {
namespace {

// The functions of that name would be watched like those of everybody else.
void* map_pages(std::size_t bytes) noexcept {
  const long address = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

}  // namespace

BlockTable::Leaf* BlockTable::make_leaf(std::uintptr_t address) noexcept {
  if (address >> kAddressBits != 0) return nullptr;
  const int error_before = errno;
  void* const pages = map_pages(sizeof(Leaf));
  if (pages != nullptr) {
    // A huge page would make 2 MiB of the first entry.
    ::syscall(SYS_madvise, pages, sizeof(Leaf), MADV_NOHUGEPAGE);
  }
  // Fresh pages are zero, which is what an empty leaf is.
  Leaf* made = static_cast<Leaf*>(pages);
  Leaf* present = nullptr;
  auto& slot = leaves_[address >> (kPieceBits + kLeafBits)];
  if (made != nullptr && !slot.compare_exchange_strong(present, made, std::memory_order_acq_rel)) {
    ::syscall(SYS_munmap, pages, sizeof(Leaf));
    made = present;
  }
  errno = error_before;
  return made;
}

std::optional<KnownBlock> BlockTable::copy(const Entry& entry) const noexcept {
  // Before the address and once more behind the rest: the same address again is another block if
  // its number is another.
  const auto order = entry.order.load(std::memory_order_acquire);
  const auto address = entry.address.load(std::memory_order_acquire);
  if (address == 0 || !is_current(entry)) return std::nullopt;
  const KnownBlock block = read(entry, address);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.address.load(std::memory_order_relaxed) != address) return std::nullopt;
  if (entry.order.load(std::memory_order_relaxed) != order || block.order != order) {
    return std::nullopt;
  }
  return block;
}

std::optional<KnownBlock> BlockTable::at(std::uintptr_t address) const noexcept {
  const Leaf* leaf = leaf_of(address);
  if (leaf == nullptr) return std::nullopt;
  const auto block = copy(leaf->entries[index_of(address)]);
  return block && block->address == address ? block : std::nullopt;
}

const BlockTable::Entry* BlockTable::last_before(const Leaf& leaf, std::size_t index,
                                                 std::uintptr_t address) const noexcept {
  for (std::size_t end = index + 1; end > 0;) {
    const std::size_t group = (end - 1) / kGroup;
    const std::uint64_t word = leaf.written[group / 64].load(std::memory_order_relaxed);
    const std::size_t begin = group * kGroup;
    for (; (word >> (group % 64) & 1) != 0 && end > begin; --end) {
      const Entry& entry = leaf.entries[end - 1];
      const auto found = entry.address.load(std::memory_order_acquire);
      if (found != 0 && found <= address && is_current(entry)) return &entry;
    }
    end = begin;
  }
  return nullptr;
}

std::optional<KnownBlock> BlockTable::covering(std::uintptr_t address) const noexcept {
  // 1 TiB: who reserves more in one piece does not release it bit by bit.
  constexpr std::size_t kFurthest = 256;
  if (address >> kAddressBits != 0) return std::nullopt;
  std::size_t index = index_of(address);
  std::size_t at = address >> (kPieceBits + kLeafBits);
  for (std::size_t left = kFurthest; left > 0; --left, --at) {
    const Leaf* leaf = leaves_[at].load(std::memory_order_acquire);
    const Entry* entry = leaf == nullptr ? nullptr : last_before(*leaf, index, address);
    if (entry != nullptr) {
      const auto block = copy(*entry);
      if (!block || block->address > address) return std::nullopt;
      const auto end = block->address + static_cast<std::uintptr_t>(block->bytes);
      return end > address ? block : std::nullopt;
    }
    if (at == 0) break;
    index = kEntries - 1;
  }
  return std::nullopt;
}

std::optional<KnownBlock> BlockTable::first_in(std::uintptr_t begin,
                                               std::uintptr_t end) const noexcept {
  constexpr std::uintptr_t kPiece = std::uintptr_t{1} << kPieceBits;
  constexpr std::uintptr_t kGroupSpan = kPiece * kGroup;
  for (std::uintptr_t at = begin & ~(kPiece - 1); at < end;) {
    const Leaf* leaf = leaf_of(at);
    const std::size_t group = index_of(at) / kGroup;
    if (leaf == nullptr ||
        (leaf->written[group / 64].load(std::memory_order_relaxed) >> (group % 64) & 1) == 0) {
      at = (at & ~(kGroupSpan - 1)) + kGroupSpan;
      continue;
    }
    const auto block = copy(leaf->entries[index_of(at)]);
    if (block && block->address >= begin && block->address < end) return block;
    at += kPiece;
  }
  return std::nullopt;
}

void BlockTable::forget_all() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  const int error_before = errno;
  for (const auto& slot : leaves_) {
    Leaf* leaf = slot.load(std::memory_order_acquire);
    // The entries alone: a group stays marked, so that who is writing to it is not lost.
    if (leaf != nullptr) {
      ::syscall(SYS_madvise, leaf->entries.data(), sizeof leaf->entries, MADV_DONTNEED);
    }
  }
  errno = error_before;
}

}  // namespace xleak::monitor
