#include "probes/heap.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>

#include "probes/resident.hpp"
#include "xleak/monitor/error.hpp"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#define XLEAK_HAS_MALLINFO2 1
#else
#define XLEAK_HAS_MALLINFO2 0
#endif

namespace xleak::monitor {
namespace {

// With jemalloc or a sanitizer in front, mallinfo2 would count a heap that nobody uses.
bool malloc_is_glibcs() noexcept {
  void* libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return false;
  const bool same = ::dlsym(RTLD_DEFAULT, "malloc") == ::dlsym(libc, "malloc");
  ::dlclose(libc);
  return same;
}

}  // namespace

std::optional<HeapUse> try_read_heap() noexcept {
#if XLEAK_HAS_MALLINFO2
  static const bool glibcs = malloc_is_glibcs();
  if (!glibcs) return std::nullopt;
  const auto info = ::mallinfo2();
  return HeapUse{static_cast<std::int64_t>(info.uordblks + info.hblkhd),
                 static_cast<std::int64_t>(info.fordblks)};
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
