#pragma once
#include <cstdint>
#include <istream>
#include <optional>
#include <string_view>

namespace xleak::monitor {

/// What of the first arena in malloc_info's text trimming gives back at least: each free piece less
/// the two pages that its ends may share with pieces in use.
std::int64_t trimmable_bytes(std::string_view malloc_info);

/// The resident bytes of the mapping "[heap]" in the text of /proc/self/smaps; empty without one.
std::optional<std::int64_t> resident_heap_bytes(std::istream& smaps);

}  // namespace xleak::monitor
