#include "retention/block_recorder.hpp"

namespace xleak::monitor {
namespace {

// Of x86-64, the one processor whose allocators are watched; huge pages are cut at these as well.
constexpr std::uintptr_t kPageBytes = 4096;

}  // namespace

BlockRecorder recorder;

void BlockRecorder::begin() noexcept {
  table_.forget_all();
  sums_.restart();
  mapped_bytes_.store(0, std::memory_order_relaxed);
  records_.store(true, std::memory_order_release);
}

void BlockRecorder::end() noexcept {
  records_.store(false, std::memory_order_release);
  table_.forget_all();
}

void BlockRecorder::births_belong_to(std::uint32_t cell) noexcept {
  cell_.store(cell, std::memory_order_relaxed);
  if (records()) sums_.begin_peak();
}

void BlockRecorder::put_back(const KnownBlock& block) noexcept {
  if (records()) put(block);
}

void BlockRecorder::resized(const std::optional<KnownBlock>& before, const void* now,
                            std::size_t bytes, BlockKind kind) noexcept {
  if (!before || static_cast<std::int64_t>(bytes) > before->bytes) {
    return born(now, bytes, before ? before->kind : kind);
  }
  KnownBlock block = *before;
  block.address = reinterpret_cast<std::uintptr_t>(now);
  block.bytes = static_cast<std::int64_t>(bytes);
  put_back(block);
}

void BlockRecorder::cut(const KnownBlock& map, std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (!table_.take(map.address)) return;
  count(map, -1);
  const std::uintptr_t map_end = map.address + static_cast<std::uintptr_t>(map.bytes);
  const auto keep = [&](std::uintptr_t from, std::uintptr_t to) {
    if (from >= to || to - from < kLargeBytes) return;
    KnownBlock rest = map;
    rest.address = from;
    rest.bytes = static_cast<std::int64_t>(to - from);
    put(rest);
  };
  keep(map.address, begin);
  keep(end, map_end);
}

void BlockRecorder::unmapped(const void* begin, std::size_t bytes) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  // The system refuses such a call.
  if (!records() || from % kPageBytes != 0 || bytes == 0) return;
  const std::uintptr_t to = (from + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (to < from) return;
  if (const auto over = table_.covering(from); over && over->kind != BlockKind::heap) {
    cut(*over, from, to);
  }
  for (std::uintptr_t at = from; at < to;) {
    const auto next = table_.first_in(at, to);
    if (!next) break;
    if (next->kind != BlockKind::heap) cut(*next, from, to);
    at = next->address + 1;
  }
}

void BlockRecorder::drop(const KnownBlock& block) noexcept {
  // Unless its address has another block by now.
  const auto now = table_.take(block.address);
  if (!now) return;
  count(*now, -1);
  if (now->order != block.order) put_back(*now);
}

BlockSums BlockRecorder::sums() noexcept {
  BlockSums sums = sums_.sums();
  sums.mapped_bytes = mapped_bytes_.load(std::memory_order_relaxed);
  return sums;
}

}  // namespace xleak::monitor
