#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "xleak/monitor/source.hpp"

namespace xleak::monitor::source {

/// A comment that speaks to xleak.
struct Remark {
  int cell = 0;
  int line = 0;
  std::string text;
};

/// A cell in which all that is no Python is blank, and every other character where it was.
struct PythonText {
  std::string text;
  std::vector<MagicLine> magics;
  std::vector<Remark> remarks;
};

/// Blanks %magics, !commands, help? lines and comments. The Python that `%time` and `%%time` run
/// stays. cell: what findings call it.
PythonText only_python(std::string_view text, int cell);

}  // namespace xleak::monitor::source
