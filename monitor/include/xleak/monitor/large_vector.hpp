#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace xleak::monitor {

/// Memory for what a look at the heap needs while it lasts: large pieces come from the system and
/// go back to it, and the C heap of the program looks as it did before.
template <class T>
class PageAllocator {
 public:
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT: as the standard asks for it.

  T* allocate(std::size_t count) {
    if (count < kLarge) return std::allocator<T>().allocate(count);
    void* pages = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }

  void deallocate(T* memory, std::size_t count) noexcept {
    if (count < kLarge) return std::allocator<T>().deallocate(memory, count);
    ::munmap(memory, count * sizeof(T));
  }

  friend bool operator==(PageAllocator, PageAllocator) noexcept { return true; }
  friend bool operator!=(PageAllocator, PageAllocator) noexcept { return false; }

 private:
  // Less leaves no gap in the C heap that a large block of the program would fit into; to ask the
  // system takes as long as to fill some kilobytes.
  static constexpr std::size_t kLarge = 16 * 1024 / sizeof(T);
};

/// A vector with a place for each object of a heap.
template <class T>
using LargeVector = std::vector<T, PageAllocator<T>>;

}  // namespace xleak::monitor
