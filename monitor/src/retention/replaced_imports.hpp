#pragma once
#include <cstddef>
#include <string>

namespace xleak::monitor {

/// What a walk through the import tables of the loaded libraries did.
struct ImportWalk {
  int set = 0;      ///< Slots that were changed.
  int foreign = 0;  ///< Call slots of an allocator that hold neither libc's function nor ours.
  const void* first_foreign = nullptr;  ///< The function in the first of them.
};

/// Sets every slot that holds libc's function to its replacement.
ImportWalk replace_imports() noexcept;
/// The same in the libraries that no walk has seen since they were loaded. Waits for those that
/// other threads are loading, as dlsym does. Does nothing while another walk is under way.
int replace_new_imports() noexcept;
/// Gives libc's functions back. Slots that somebody else has changed stay as they are.
int restore_imports() noexcept;
/// Whether the slots of libc and of the program still hold the replacements: a tool that had its
/// own in all of them leaves libc's functions behind.
bool imports_were_taken_back() noexcept;

/// Where the code of the library lies that defines a function; empty where it is not loaded.
struct CodeRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
CodeRange code_that_has(const void* function) noexcept;

/// For the child: the walk of a thread that it does not have is none.
void end_walks_after_fork() noexcept;

}  // namespace xleak::monitor
