#include "probes/heap.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "probes/resident.hpp"
#include "xleak/monitor/error.hpp"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#define XLEAK_HAS_MALLINFO2 1
#else
#define XLEAK_HAS_MALLINFO2 0
#endif

namespace xleak::monitor {
namespace {

#if XLEAK_HAS_MALLINFO2
HeapUse read() noexcept {
  const auto info = ::mallinfo2();
  return {static_cast<std::int64_t>(info.uordblks + info.hblkhd),
          static_cast<std::int64_t>(info.fordblks), std::nullopt,
          static_cast<std::int64_t>(info.ordblks + info.smblks)};
}

// With jemalloc or a sanitizer in front, mallinfo2 would count a heap that nobody uses. By what a
// block does to it: where `malloc` lies says nothing in a program that is linked to one place.
bool counts_what_malloc_gives() noexcept {
  constexpr std::size_t kBlock = 3U << 20;
  // Another thread may free as much meanwhile, but not each time.
  constexpr int kAttempts = 5;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto before = read().used_bytes;
    void* volatile block = std::malloc(kBlock);
    const auto during = read().used_bytes;
    // glibc gives pages of their own only to what is larger than the largest such block that was
    // freed, so this one gets small first: arrays of the program would come from used heap.
    void* const small = std::realloc(block, 1);
    std::free(small != nullptr ? small : block);
    if (small != nullptr && during - before >= static_cast<std::int64_t>(kBlock)) return true;
  }
  return false;
}
#endif

}  // namespace

std::optional<HeapUse> try_read_heap() noexcept {
#if XLEAK_HAS_MALLINFO2
  static const bool counts = counts_what_malloc_gives();
  if (!counts) return std::nullopt;
  return read();
#else
  return std::nullopt;
#endif
}

HeapUse read_heap() {
  if (const auto heap = try_read_heap()) return *heap;
  throw Error(
      "cannot read the C heap: malloc is not that of glibc 2.33 or later. "
      "What the C heap holds is unknown; all other numbers are there.");
}

std::int64_t trim_heap() {
  const Resident resident;
  const auto before = resident.read();
  ::malloc_trim(0);
  const auto after = resident.read();
  if (!before || !after) throw Error("cannot read /proc/self/statm: what came back is unknown.");
  return std::max<std::int64_t>(0, *before - *after);
}

}  // namespace xleak::monitor
