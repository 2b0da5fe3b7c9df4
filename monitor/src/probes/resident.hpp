#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "proc_file.hpp"

namespace xleak::monitor {

/// Parses the text of /proc/<pid>/statm: the second field, in pages. Empty when it is malformed.
std::optional<std::int64_t> parse_statm_resident(std::string_view text, std::int64_t page_bytes);

/// Memory of this process that is in RAM now; about a microsecond a reading.
class Resident {
 public:
  /// Throws Error when /proc/self/statm cannot be opened.
  Resident();

  /// Bytes, or empty when they cannot be read.
  std::optional<std::int64_t> read() const noexcept;

 private:
  ProcFile file_;
  std::int64_t page_bytes_;
};

}  // namespace xleak::monitor
