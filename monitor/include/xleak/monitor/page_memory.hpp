#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <memory_resource>
#include <new>

namespace xleak::monitor {

/// Many small pieces of memory that all go together, for what a look at the heap needs while it
/// lasts: in pages of their own, so that the C heap of the program looks as it did before.
class PageMemory {
 public:
  PageMemory() : pieces_(kFirst, &pages_) {}
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;

  std::pmr::memory_resource* get() noexcept { return &pieces_; }

 private:
  class Pages final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t) override {
      void* pages =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      return pages;
    }
    void do_deallocate(void* pages, std::size_t bytes, std::size_t) override {
      ::munmap(pages, bytes);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }
  };

  // Enough for a small heap; each further piece is larger than the one before.
  static constexpr std::size_t kFirst = 256 << 10;

  Pages pages_;
  std::pmr::monotonic_buffer_resource pieces_;
};

}  // namespace xleak::monitor
