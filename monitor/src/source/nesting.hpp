#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace xleak::monitor::source {

/// What of a cell the parser is given.
struct Readable {
  std::string text;  ///< What it is not given is blank; every other character where it was.
  std::uint32_t cut_line = 0;  ///< Of the first thing that is blank, from 1; 0: nothing is.
};

/// Whether the parser takes a cell of this length whatever is in it.
bool is_short(std::string_view text);

/// Blanks what is nested too deeply for the parser, and statements that hold an error: with both it
/// frees other memory than its own. has_error: of short texts.
Readable readable(std::string_view text, const std::function<bool(std::string_view)>& has_error);

}  // namespace xleak::monitor::source
