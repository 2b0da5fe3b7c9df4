#pragma once
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace xleak::monitor {

/// What of the first arena in malloc_info's text trimming gives back at least: each free piece less
/// the two pages that its ends may share with pieces in use.
std::int64_t trimmable_bytes(std::string_view malloc_info);

/// What malloc_info says, as text; empty where it says nothing.
std::string malloc_info_text();

/// What of the free pieces in malloc_info's text is in memory, where the first arena has this many
/// bytes of pages there.
std::int64_t resident_free_bytes(std::string_view malloc_info, std::int64_t first_arena);

/// The resident bytes of the mapping "[heap]" in the text of /proc/self/smaps; empty without one.
std::optional<std::int64_t> resident_heap_bytes(std::istream& smaps);

}  // namespace xleak::monitor
