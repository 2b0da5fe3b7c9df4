#include "retention/competing_allocators.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <array>
#include <cstdlib>

#include "retention/allocator_hooks.hpp"

namespace xleak::monitor {
namespace {

std::string file_of(const void* function) {
  Dl_info library{};
  const bool known = ::dladdr(function, &library) != 0 && library.dli_fname != nullptr;
  const std::string path = known ? library.dli_fname : "an unknown library";
  return path.substr(path.rfind('/') + 1);
}

bool runs_under_sanitizer() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  constexpr std::array kRuntimes{"__asan_init", "__tsan_init", "__msan_init", "__lsan_init",
                                 "__hwasan_init"};
  for (const char* runtime : kRuntimes) {
    if (::dlsym(RTLD_DEFAULT, runtime) != nullptr) return true;
  }
  return false;
#endif
}

/// Its "client request" of number 0x1001: instructions that do nothing on a processor.
bool runs_under_valgrind() noexcept {
#if defined(__x86_64__)
  const std::array<unsigned long, 6> request{0x1001, 0, 0, 0, 0, 0};
  unsigned long answer = 0;
  __asm__ volatile(
      "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
      : "=d"(answer)
      : "a"(request.data()), "0"(answer)
      : "cc", "memory");
  return answer != 0;
#else
  return false;
#endif
}

/// Whether a block has the header that is read on each way to free().
bool has_headers_of_glibc() noexcept {
  constexpr std::size_t kFlags = 7;
  constexpr std::size_t kMapped = 2;
  constexpr std::size_t kHeader = 8;
  // Of either kind: a part of the heap, and with pages of its own.
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{3} << 20}) {
    void* const volatile block = std::malloc(bytes);
    if (block == nullptr) return false;
    const std::size_t field = size_field(block);
    const std::size_t usable = ::malloc_usable_size(block);
    // Small before it goes: to free a large mapped block would make glibc map fewer of them.
    void* const small = std::realloc(block, 1);
    std::free(small != nullptr ? small : block);
    const std::size_t headers = (field & kMapped) != 0 ? 2 * kHeader : kHeader;
    if ((field & ~kFlags) - headers != usable) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> competing_allocator() {
  if (runs_under_sanitizer()) {
    return "the process runs under a sanitizer, which has an allocator of its own.";
  }
  if (runs_under_valgrind()) return "the process runs under valgrind, which replaces allocators.";
  for (const char* name : {"malloc", "free", "calloc", "realloc", "posix_memalign", "aligned_alloc",
                           "memalign", "mmap", "munmap", "dlsym"}) {
    const Replacement* known = replacement_of(name);
    const void* used = ::dlsym(RTLD_DEFAULT, name);
    if (used == known->original || used == known->program_stub) continue;
    return std::string(name) + " is not libc's but that of " + file_of(used) +
           ", which was loaded before libc.";
  }
  if (!has_headers_of_glibc()) {
    return "blocks of malloc do not have the headers that glibc gives them.";
  }
  return std::nullopt;
}

std::optional<std::string> competing_profiler(const ImportWalk& walk) {
  // Some libraries lead a few slots to functions of their own; a profiler takes them all.
  constexpr int kFew = 40;
  if (walk.foreign <= kFew && walk.foreign <= walk.set / 4) return std::nullopt;
  return std::to_string(walk.foreign) + " of " + std::to_string(walk.foreign + walk.set) +
         " import slots belong to another tool, among them to " + file_of(walk.first_foreign) + ".";
}

}  // namespace xleak::monitor
