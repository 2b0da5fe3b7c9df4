#pragma once
#include <optional>
#include <string>

#include "retention/replaced_imports.hpp"

namespace xleak::monitor {

/// Why the allocation functions of this process must be left alone: a sentence; empty where nothing
/// speaks against it. Looked at before anything is changed, once find_originals() was called.
std::optional<std::string> competing_allocator();

/// The same, by what a walk through the import tables met: a profiler's functions stand there.
std::optional<std::string> competing_profiler(const ImportWalk& walk);

}  // namespace xleak::monitor
