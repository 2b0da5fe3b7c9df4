#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "proc_file.hpp"

namespace xleak::monitor {

/// Parses VmHWM from the text of /proc/<pid>/status, in bytes. Empty when the line is absent.
std::optional<std::int64_t> parse_high_water(std::string_view text);

/// The most memory this process ever had in RAM, from /proc/self/status. Not getrusage's ru_maxrss,
/// which starts at the mark of the parent process. The mark is the user's and never reset.
class HighWater {
 public:
  /// Throws Error when /proc/self/status cannot be opened.
  HighWater();

  /// Bytes, or empty when they cannot be read.
  std::optional<std::int64_t> read() const noexcept;

 private:
  ProcFile file_;
};

}  // namespace xleak::monitor
