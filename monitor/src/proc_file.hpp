#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xleak/monitor/own_descriptor.hpp"

namespace xleak::monitor {

/// Room for the start of a /proc file; on the stack, to keep a reading out of the heap it measures.
using ProcBuffer = std::array<char, 4096>;

/// Keeps one descriptor on a file of /proc/self and rereads it on demand, from any thread.
class ProcFile {
 public:
  /// Throws Error when the file cannot be opened.
  explicit ProcFile(const char* path);

  /// The first bytes of the file as they are now, in `buffer`. Throws Error.
  std::string_view read(ProcBuffer& buffer) const;

 private:
  const char* path_;
  OwnDescriptor file_;
};

/// The bytes of a "Key:   12 kB" line; `key` as in "VmHWM:". Empty when there is no such line.
std::optional<std::int64_t> kib_field(std::string_view text, std::string_view key);

/// Room for a longer one, such as /proc/vmstat.
using LargeProcBuffer = std::array<char, 16384>;

/// The start of a small text file, in `buffer`; empty when it cannot be read. Allocates nothing.
std::string_view read_text(const char* path, LargeProcBuffer& buffer) noexcept;

/// The whole of a small text file; empty when it cannot be read.
std::optional<std::string> text_of(const std::string& path);

}  // namespace xleak::monitor
