#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xleak/monitor/source.hpp"

namespace xleak::monitor::source {

/// The code cells of a percent-format script, or the whole of a plain one.
std::vector<SourceCell> cells_of_script(std::string_view text);

/// Whether this line of a script begins a cell: `# %%`.
bool is_marker(std::string_view line);

/// The code cells of a notebook of format 3 or 4. Throws Error, with a sentence, for what is none.
std::vector<SourceCell> cells_of_notebook(std::string_view text);

/// The bytes of a file. Throws Error where it cannot be read.
std::string read_file(const std::string& path);

/// The same; empty where there is no such file, or it cannot be read.
std::optional<std::string> read_if_there(const std::string& path);

/// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace xleak::monitor::source
