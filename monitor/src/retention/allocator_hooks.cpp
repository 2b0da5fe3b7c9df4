// Compiled with -O2 in every build: dlsym must be left by a jump where the caller matters, since
// glibc takes the library that called it from the return address.
#include "retention/allocator_hooks.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "retention/block_recorder.hpp"

namespace xleak::monitor {

std::atomic<void (*)() noexcept> see_new_libraries{nullptr};

namespace {

#define XLEAK_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), true)

// Not by their names, which a program or a library may have taken; set before any slot is.
struct Originals {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*reallocarray)(void*, std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  void* (*mmap)(void*, std::size_t, int, int, int, off_t);
  void* (*mremap)(void*, std::size_t, std::size_t, int, ...);
  int (*munmap)(void*, std::size_t);
  void* (*dlsym)(void*, const char*);
};
Originals real;

std::atomic<std::uintptr_t> python_begin{0};
std::atomic<std::uintptr_t> python_end{0};

// --- the heap

// Out of line, so that a small block costs a comparison and a jump and saves no register.
[[gnu::noinline]] void* malloc_large(std::size_t bytes) {
  void* const block = real.malloc(bytes);
  recorder.born(block, bytes, BlockKind::heap);
  return block;
}

void* hooked_malloc(std::size_t bytes) {
  if (XLEAK_LIKELY(bytes < kLargeBytes)) return real.malloc(bytes);
  return malloc_large(bytes);
}

[[gnu::noinline]] void free_large(void* block) {
  // Before: afterwards another thread may have the address.
  recorder.gone(block);
  real.free(block);
}

void hooked_free(void* block) {
  if (block != nullptr && !XLEAK_LIKELY(size_field(block) < kLargeBytes)) return free_large(block);
  real.free(block);
}

[[gnu::noinline]] void* calloc_large(std::size_t count, std::size_t size) {
  void* const block = real.calloc(count, size);
  recorder.born(block, count * size, BlockKind::heap);
  return block;
}

void* hooked_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool too_much = __builtin_mul_overflow(count, size, &bytes);
  if (XLEAK_LIKELY(too_much || bytes < kLargeBytes)) return real.calloc(count, size);
  return calloc_large(count, size);
}

[[gnu::noinline]] void* realloc_large(void* block, std::size_t bytes) {
  const auto before = recorder.gone(block);
  void* const now = real.realloc(block, bytes);
  if (now == nullptr) {
    // Of no bytes: glibc has released it.
    if (before && bytes != 0) recorder.put_back(*before);
  } else if (bytes >= kLargeBytes) {
    recorder.resized(before, now, bytes, BlockKind::heap);
  }
  return now;
}

void* hooked_realloc(void* block, std::size_t bytes) {
  const bool was_small = block == nullptr || size_field(block) < kLargeBytes;
  if (XLEAK_LIKELY(was_small && bytes < kLargeBytes)) return real.realloc(block, bytes);
  return realloc_large(block, bytes);
}

// glibc's own calls realloc by its import table.
void* hooked_reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return real.reallocarray(block, count, size);
  return hooked_realloc(block, bytes);
}

void* born_if_large(void* block, std::size_t bytes) {
  if (bytes >= kLargeBytes) recorder.born(block, bytes, BlockKind::heap);
  return block;
}

int hooked_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int error = real.posix_memalign(block, alignment, bytes);
  if (error == 0) born_if_large(*block, bytes);
  return error;
}

void* hooked_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return born_if_large(real.aligned_alloc(alignment, bytes), bytes);
}

void* hooked_memalign(std::size_t alignment, std::size_t bytes) {
  return born_if_large(real.memalign(alignment, bytes), bytes);
}

void* hooked_valloc(std::size_t bytes) { return born_if_large(real.valloc(bytes), bytes); }

void* hooked_pvalloc(std::size_t bytes) { return born_if_large(real.pvalloc(bytes), bytes); }

// --- maps

/// pymalloc's arenas are 256 KiB to Python 3.9 and 3.10, 1 MiB from there on. Its module `mmap`
/// asks for shared maps, unless a user wants others.
BlockKind kind_of_map(std::uintptr_t caller, std::size_t bytes, int flags) {
  constexpr std::size_t kOldArena = std::size_t{256} << 10;
  constexpr std::size_t kArena = std::size_t{1} << 20;
  if ((flags & MAP_ANONYMOUS) == 0) return BlockKind::file_map;
  const bool by_python = caller >= python_begin.load(std::memory_order_relaxed) &&
                         caller < python_end.load(std::memory_order_relaxed);
  const bool like_arena =
      (bytes == kArena || bytes == kOldArena) && flags == (MAP_PRIVATE | MAP_ANONYMOUS);
  return by_python && like_arena ? BlockKind::python_arena : BlockKind::anonymous_map;
}

void* hooked_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  void* const map = real.mmap(at, bytes, protection, flags, file, offset);
  // At a fixed place: a part of a map that is known is put to use.
  if (map != MAP_FAILED && bytes >= kLargeBytes && (flags & MAP_FIXED) == 0) {
    recorder.born(map, bytes, kind_of_map(caller, bytes, flags));
  }
  return map;
}

int hooked_munmap(void* map, std::size_t bytes) {
  recorder.unmapped(map, bytes);
  return real.munmap(map, bytes);
}

void* hooked_mremap(void* map, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  void* const wanted = va_arg(more, void*);
  va_end(more);
  const auto before = recorder.table().at(reinterpret_cast<std::uintptr_t>(map));
  // Of no bytes: a second map of the same pages.
  if (old_bytes != 0) recorder.unmapped(map, old_bytes);
  void* const now = real.mremap(map, old_bytes, bytes, flags, wanted);
  if (now == MAP_FAILED) {
    if (before && old_bytes != 0) {
      recorder.unmapped(map, static_cast<std::size_t>(before->bytes));
      recorder.put_back(*before);
    }
    return now;
  }
  if ((flags & MREMAP_FIXED) != 0) recorder.unmapped(now, bytes);
  if ((flags & MREMAP_DONTUNMAP) != 0 && before) recorder.put_back(*before);
  if (bytes >= kLargeBytes) recorder.resized(before, now, bytes, BlockKind::anonymous_map);
  return now;
}

// --- libraries

[[gnu::noinline]] void see_new() {
  const auto see = see_new_libraries.load(std::memory_order_acquire);
  if (see != nullptr) see();
}

// Whoever loads an extension module asks for its first function next: what is new has its slots set
// before any of it runs, constructors apart.
void* hooked_dlsym(void* library, const char* name) {
  see_new();
  const bool by_caller = library == RTLD_DEFAULT || library == RTLD_NEXT;
  const Replacement* known = by_caller || name == nullptr ? nullptr : replacement_of(name);
  if (known == nullptr || !known->allocates || !recorder.records()) {
    return real.dlsym(library, name);
  }
  void* const found = real.dlsym(library, name);
  return found == known->original ? const_cast<void*>(known->replacement) : found;
}

// --- by name

template <class F>
Replacement replacement(const char* name, F* function, bool allocates = true) {
  return {name, reinterpret_cast<const void*>(function), nullptr, nullptr, allocates};
}

std::array replacements{
    replacement("malloc", hooked_malloc),
    replacement("free", hooked_free),
    replacement("calloc", hooked_calloc),
    replacement("realloc", hooked_realloc),
    replacement("reallocarray", hooked_reallocarray),
    replacement("posix_memalign", hooked_posix_memalign),
    replacement("aligned_alloc", hooked_aligned_alloc),
    replacement("memalign", hooked_memalign),
    replacement("valloc", hooked_valloc),
    replacement("pvalloc", hooked_pvalloc),
    replacement("mmap", hooked_mmap),
    replacement("mmap64", hooked_mmap),
    replacement("mremap", hooked_mremap),
    replacement("munmap", hooked_munmap),
    replacement("dlsym", hooked_dlsym, false),
};

/// The function of this name that all libraries use, if it is no more than the program's own stub
/// for a function that it imports.
const void* program_stub_of(const char* name) {
  void* const used = ::dlsym(RTLD_DEFAULT, name);
  Dl_info library{};
  void* symbol = nullptr;
  if (used == nullptr || ::dladdr1(used, &library, &symbol, RTLD_DL_SYMENT) == 0) return nullptr;
  if (symbol == nullptr) return nullptr;
  return static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF ? used : nullptr;
}

template <class F>
void take_original(const char* name, F*& function) {
  function = reinterpret_cast<F*>(const_cast<void*>(replacement_of(name)->original));
}

}  // namespace

const Replacement* replacement_of(const char* name) noexcept {
  for (const Replacement& known : replacements) {
    if (name[0] == known.name[0] && std::strcmp(name, known.name) == 0) return &known;
  }
  return nullptr;
}

const char* find_originals(void* libc) noexcept {
  for (Replacement& known : replacements) {
    known.original = ::dlsym(libc, known.name);
    if (known.original == nullptr) return known.name;
    known.program_stub = program_stub_of(known.name);
  }
  take_original("malloc", real.malloc);
  take_original("free", real.free);
  take_original("calloc", real.calloc);
  take_original("realloc", real.realloc);
  take_original("reallocarray", real.reallocarray);
  take_original("posix_memalign", real.posix_memalign);
  take_original("aligned_alloc", real.aligned_alloc);
  take_original("memalign", real.memalign);
  take_original("valloc", real.valloc);
  take_original("pvalloc", real.pvalloc);
  take_original("mmap", real.mmap);
  take_original("mremap", real.mremap);
  take_original("munmap", real.munmap);
  take_original("dlsym", real.dlsym);
  return nullptr;
}

void arenas_are_mapped_from(std::uintptr_t begin, std::uintptr_t end) noexcept {
  python_begin.store(begin, std::memory_order_relaxed);
  python_end.store(end, std::memory_order_relaxed);
}

}  // namespace xleak::monitor
