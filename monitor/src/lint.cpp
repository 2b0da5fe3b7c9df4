#include "xleak/monitor/lint.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "source/files.hpp"
#include "source/ignores.hpp"
#include "source/program.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor {
namespace {

// More files beside a notebook than this are a package, which is linted for itself.
constexpr std::size_t kMostModules = 64;

std::vector<DoubtfulCell> doubtful_cells(const source::Program& program) {
  std::vector<DoubtfulCell> doubtful;
  for (std::size_t i = 0; i < program.cells.size(); ++i) {
    const source::Reading& reading = program.readings[i];
    // The grammar reads over a NUL, also where it is in a comment.
    const bool may_be_refused =
        reading.is_doubtful || program.cells[i].text.find('\0') != std::string::npos;
    if (!may_be_refused && reading.cut_line == 0) continue;
    doubtful.push_back({program.cells[i].index, program.texts[i], may_be_refused,
                        static_cast<int>(reading.cut_line)});
  }
  return doubtful;
}

SourceReport report_of(const SourceView& code) {
  SourceReport report;
  source::Ignores ignores(code.program());
  for (const Smell* smell : all_smells()) {
    if (smell->in_source == nullptr) continue;
    std::set<std::string> seen;
    for (Finding& finding : smell->in_source(code)) {
      if (!seen.insert(finding.key).second) continue;
      Verdict verdict{smell, std::move(finding), smell->severity};
      if (verdict.finding.severity) verdict.severity = *verdict.finding.severity;
      if (!ignores.covers(verdict)) report.findings.push_back(std::move(verdict));
    }
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Verdict& a, const Verdict& b) {
                     return std::make_tuple(a.finding.cell, a.finding.line, a.finding.column) <
                            std::make_tuple(b.finding.cell, b.finding.line, b.finding.column);
                   });
  report.unused = ignores.unused();
  report.doubtful = doubtful_cells(code.program());
  return report;
}

bool is_notebook(std::string_view path) {
  constexpr std::string_view kSuffix = ".ipynb";
  return path.size() > kSuffix.size() && path.substr(path.size() - kSuffix.size()) == kSuffix;
}

// Modules have negative indexes, and stand before the program that imports them.
struct Modules {
  std::vector<SourceCell> cells;
  std::vector<std::string> paths;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

struct ModuleFile {
  std::string path, text, package;
};

// Where a module would be, without its ending.
std::string base_of(const std::string& folder, std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return folder + name;
}

std::optional<ModuleFile> module_file(const std::string& folder, const std::string& name) {
  const std::string base = base_of(folder, name);
  const std::size_t dot = name.rfind('.');
  const std::string outer = dot == std::string::npos ? "" : name.substr(0, dot);
  for (const auto& [path, package] :
       {std::pair(base + "/__init__.py", name), {base + ".py", outer}}) {
    auto text = source::read_if_there(path);
    if (text && source::is_utf8(*text)) return ModuleFile{path, std::move(*text), package};
  }
  return std::nullopt;
}

/// Reads the modules that a program imports from a folder.
class ModuleReader {
 public:
  ModuleReader(std::string folder, std::string itself)
      : folder_(std::move(folder)), itself_(std::move(itself)) {}

  // `a.b.c` is the module a/b/c.py, or a name in a/b.py.
  void read(const SourceView& importing) {
    for (const std::string& path : importing.imports()) {
      std::size_t end = 0;
      do {
        end = std::min(path.find('.', end + 1), path.size());
      } while (add(path.substr(0, end)) && end < path.size());
    }
  }

  Modules take() { return std::move(modules_); }

 private:
  // Whether something of that name is there: a module, or a folder that may have some.
  bool add(const std::string& name) {
    const auto [known, is_new] = known_.emplace(name, false);
    if (!is_new || modules_.paths.size() >= kMostModules) return known->second;
    auto file = module_file(folder_, name);
    std::error_code unreadable;
    if (!file)
      return known->second = std::filesystem::is_directory(base_of(folder_, name), unreadable);
    if (file->path == itself_) return false;
    known->second = true;
    SourceCell cell{std::move(file->text), -static_cast<int>(modules_.paths.size()) - 1};
    cell.module = name;
    cell.package = std::move(file->package);
    modules_.paths.push_back(std::move(file->path));
    // What it imports itself comes before it.
    read(SourceView({cell}));
    modules_.cells.push_back(std::move(cell));
    return true;
  }

  std::string folder_, itself_;
  std::map<std::string, bool> known_;  ///< Whether something of that name is there.
  Modules modules_;
};

// As if the module had been read for itself; edits of other files are left out.
void make_own(Finding& finding) {
  for (Fix& fix : finding.fixes) {
    const bool is_own = std::all_of(fix.edits.begin(), fix.edits.end(),
                                    [&](const Edit& it) { return it.cell == finding.cell; });
    if (!is_own) fix.edits.clear();
    for (Edit& edit : fix.edits) edit.cell = 1;
  }
  finding.cell = 1;
  finding.cause_cell = 1;
}

// The file of a module among those that a program imports, which is to blame for something.
LintedFile& file_of(LintedFile& file, const Modules& modules, int cell) {
  const std::string& path = modules.paths[static_cast<std::size_t>(-cell) - 1];
  const auto module = std::find_if(file.modules.begin(), file.modules.end(),
                                   [&](const LintedFile& it) { return it.path == path; });
  if (module != file.modules.end()) return *module;
  LintedFile added;
  added.path = path;
  added.first_lines = {1};
  const auto source = std::find_if(modules.cells.begin(), modules.cells.end(),
                                   [&](const SourceCell& it) { return it.index == cell; });
  added.sources = {source->text};
  file.modules.push_back(std::move(added));
  return file.modules.back();
}

// What is reported of a module goes to the module's own file.
void hand_out(LintedFile& file, const Modules& modules) {
  std::vector<DoubtfulCell> doubtful;
  for (DoubtfulCell& cell : file.report.doubtful) {
    auto& to = cell.cell > 0 ? doubtful : file_of(file, modules, cell.cell).report.doubtful;
    cell.cell = std::max(1, cell.cell);
    to.push_back(std::move(cell));
  }
  file.report.doubtful = std::move(doubtful);
  std::vector<Verdict> own;
  for (Verdict& verdict : file.report.findings) {
    if (verdict.finding.cell > 0) {
      own.push_back(std::move(verdict));
      continue;
    }
    LintedFile& module = file_of(file, modules, verdict.finding.cell);
    make_own(verdict.finding);
    module.report.findings.push_back(std::move(verdict));
  }
  file.report.findings = std::move(own);
  auto& unused = file.report.unused;
  unused.erase(std::remove_if(unused.begin(), unused.end(),
                              [](const UnusedIgnore& it) { return it.cell < 0; }),
               unused.end());
}

bool begins_with_marker(const SourceCell& cell) {
  return source::is_marker(std::string_view(cell.text).substr(0, cell.text.find('\n')));
}

void lint_program(LintedFile& file, std::vector<SourceCell> cells) {
  file.has_cells = file.is_notebook || std::any_of(cells.begin(), cells.end(), begins_with_marker);
  for (const SourceCell& cell : cells) {
    file.first_lines.push_back(cell.first_line);
    file.sources.push_back(cell.text);
  }
  const SourceView code(cells);
  ModuleReader reader(folder_of(file.path), file.path);
  // The files of a package import each other, and are linted each for itself.
  if (file.is_notebook || cells.size() > 1) reader.read(code);
  const Modules modules = reader.take();
  if (modules.cells.empty()) {
    file.report = report_of(code);
  } else {
    std::vector<SourceCell> program = modules.cells;
    program.insert(program.end(), std::make_move_iterator(cells.begin()),
                   std::make_move_iterator(cells.end()));
    file.report = lint(std::move(program));
  }
  hand_out(file, modules);
  if (file.report.findings.empty() && file.report.doubtful.empty()) file.sources.clear();
}

void lint_content(LintedFile& file, std::string_view text) {
  if (!source::is_utf8(text)) throw Error("it is not text in UTF-8");
  file.is_notebook = is_notebook(file.path);
  lint_program(file,
               file.is_notebook ? source::cells_of_notebook(text) : source::cells_of_script(text));
}

// What stops one file must not stop the others.
template <typename Work>
void guarded(LintedFile& file, Work work) {
  try {
    work();
  } catch (const std::exception& failed) {
    file.problem = "cannot lint " + file.path + ": " + failed.what() + ". It was left out.";
  }
}

void lint_file(LintedFile& file) {
  guarded(file, [&] { lint_content(file, source::read_file(file.path)); });
}

bool is_same(const Verdict& a, const Verdict& b) {
  return a.smell == b.smell && a.finding.cell == b.finding.cell &&
         a.finding.line == b.finding.line && a.finding.column == b.finding.column;
}

void add_missing(std::vector<Verdict>& known, std::vector<Verdict> found) {
  for (Verdict& verdict : found) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const Verdict& it) { return is_same(it, verdict); });
    if (!is_known) known.push_back(std::move(verdict));
  }
}

// A module may be linted for itself too, and several notebooks may import it.
void add_modules_of(std::vector<LintedFile>& files) {
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < files.size(); ++i) position.emplace(files[i].path, i);
  const std::size_t named = files.size();
  for (std::size_t i = 0; i < named; ++i) {
    for (LintedFile& module : std::exchange(files[i].modules, {})) {
      const auto [at, is_new] = position.try_emplace(module.path, files.size());
      if (is_new) {
        files.push_back(std::move(module));
        continue;
      }
      // In a script of several cells the lines would be others.
      LintedFile& file = files[at->second];
      if (file.first_lines.size() > 1) continue;
      if (file.sources.empty()) file.sources = module.sources;
      add_missing(file.report.findings, std::move(module.report.findings));
    }
  }
}

}  // namespace

void use_grammar(const TSLanguage* language) { source::set_grammar(language); }

SourceReport lint(std::vector<SourceCell> cells) { return report_of(SourceView(std::move(cells))); }

LintedFile lint_session(std::vector<SourceCell> cells) {
  LintedFile session;
  session.path = "./";
  session.is_notebook = true;
  lint_program(session, std::move(cells));
  return session;
}

LintedFile lint_text(const std::string& path, std::string_view text) {
  LintedFile file;
  file.path = path;
  guarded(file, [&] { lint_content(file, text); });
  return file;
}

std::vector<LintedFile> lint_files(const std::vector<std::string>& paths, int threads) {
  std::vector<LintedFile> files(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) files[i].path = paths[i];
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) lint_file(files[i]);
  };
  const auto wanted = static_cast<std::size_t>(std::max(1, threads));
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < std::min(wanted, files.size()); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  add_modules_of(files);
  return files;
}

}  // namespace xleak::monitor
