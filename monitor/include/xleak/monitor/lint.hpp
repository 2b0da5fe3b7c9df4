#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xleak/monitor/export.hpp"
#include "xleak/monitor/session.hpp"
#include "xleak/monitor/source.hpp"

struct TSLanguage;

namespace xleak::monitor {

/// `# xleak: ignore[XL203]` that kept nothing quiet.
struct UnusedIgnore {
  int cell = 0;
  int line = 0;
  std::string text;
};

/// A cell that the grammar did not wholly read. Whether it is wrong, only CPython can say.
struct DoubtfulCell {
  int cell = 0;
  /// The cell with lines of IPython and comments blanked; every other character is in its place.
  std::string python;
  bool may_be_refused = false;  ///< Something in it is perhaps no Python 3.
  int cut_line = 0;             ///< Where something is nested too deeply to be read; 0 for nowhere.
};

/// What the source of one program says. Lines count from 1 in their cell.
struct SourceReport {
  std::vector<Verdict> findings;  ///< In the order of the code.
  std::vector<UnusedIgnore> unused;
  std::vector<DoubtfulCell> doubtful;
};

/// One file as `xleak lint` reads it.
struct LintedFile {
  std::string path;
  /// Why it was not read, in one sentence.
  std::optional<std::string> problem;
  bool is_notebook = false;
  bool has_cells = false;  ///< It is a notebook, or a script with `# %%` lines.
  /// Where each cell begins in the file; for a notebook, 1.
  std::vector<int> first_lines;
  std::vector<std::string> sources;  ///< The text of each cell; empty where nothing is reported.
  SourceReport report;
  /// Files beside it that it imports, where they are to blame for something.
  std::vector<LintedFile> modules;
};

/// Says which grammar parses Python: tree-sitter-python's `TSLanguage*`. The first one stays.
XLEAK_MONITOR_API void use_grammar(const TSLanguage* language);

/// Runs the source half of every smell over one program. Throws Error where there is no grammar.
XLEAK_MONITOR_API SourceReport lint(std::vector<SourceCell> cells);

/// Lints the cells of a session in the order in which they ran, and the modules of its working
/// folder that they import, as they stand there now. Throws Error where there is no grammar.
XLEAK_MONITOR_API LintedFile lint_session(std::vector<SourceCell> cells);

/// Lints what a file of this name holds, and reads the modules beside it that it imports. Never
/// throws for what is in it.
XLEAK_MONITOR_API LintedFile lint_text(const std::string& path, std::string_view text);

/// Lints files on several threads; the result is in the order of the paths, and after them come the
/// modules beside them that are to blame for something. Never throws for what is in a file.
XLEAK_MONITOR_API std::vector<LintedFile> lint_files(const std::vector<std::string>& paths,
                                                     int threads);

}  // namespace xleak::monitor
