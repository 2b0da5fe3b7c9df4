#pragma once
#include <cstdint>
#include <istream>
#include <string_view>
#include <vector>

#include "xleak/monitor/process_pages.hpp"

namespace xleak::monitor {

/// A large block, and what of it is in memory.
struct ResidentBlock {
  LargeBlock block;
  std::int64_t bytes = 0;
};

/// Where a part of a library or of the program lies, with the zeros that are in no file.
struct Segment {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The pages by the text of /proc/self/smaps, and of malloc_info for what is free. Of the blocks
/// those stay that lie among the others.
ProcessPages process_pages(std::istream& smaps, std::string_view malloc_info,
                           const std::vector<Segment>& segments,
                           const std::vector<ResidentBlock>& blocks);

}  // namespace xleak::monitor
