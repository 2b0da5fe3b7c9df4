#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace xleak::monitor {

/// A function of libc's, and the one that calls or leaves to it and says what it did.
struct Replacement {
  const char* name;
  const void* replacement;
  const void* original;
  /// What a program that lies at a fixed address has in its place, for all libraries; else null.
  const void* program_stub;
  bool allocates;  ///< Else it looks functions up.
};

/// Finds libc's functions, by a handle of dlopen's. Returns the name of one that it lacks, or null.
const char* find_originals(void* libc) noexcept;
/// Null for a function that is left alone.
const Replacement* replacement_of(const char* name) noexcept;

/// Where CPython's code lies, whose maps of a certain form are arenas for small objects.
void arenas_are_mapped_from(std::uintptr_t begin, std::uintptr_t end) noexcept;

/// Called where a function of a library is looked up. May take milliseconds.
extern std::atomic<void (*)() noexcept> see_new_libraries;

/// The size that stands before a block of glibc's, with three flags in its low bits: never less
/// than what was asked for.
inline std::size_t size_field(const void* block) noexcept {
  return static_cast<const std::size_t*>(block)[-1];
}

}  // namespace xleak::monitor
