#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>

#include "bindings/register.hpp"
#include "xleak/monitor/lint.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {
namespace {

void use_grammar_of(const py::capsule& language) {
  use_grammar(static_cast<const TSLanguage*>(language.get_pointer()));
}

// The name of a file need not be text in UTF-8; Python has a spelling for those, too.
py::str decoded(const std::string& name) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

std::optional<py::str> problem_of(const LintedFile& file) {
  return file.problem ? std::optional(decoded(*file.problem)) : std::nullopt;
}

std::vector<LintedFile> lint_paths(const std::vector<std::filesystem::path>& paths, int threads) {
  const std::vector<std::string> names(paths.begin(), paths.end());
  const py::gil_scoped_release release;
  return lint_files(names, threads);
}

LintedFile lint_bytes(const std::filesystem::path& path, const py::bytes& data) {
  const std::string text = data;
  const py::gil_scoped_release release;
  return lint_text(path.string(), text);
}

LintedFile lint_cells(const std::vector<std::string>& texts) {
  std::vector<SourceCell> cells;
  for (const std::string& text : texts) {
    cells.push_back({text, static_cast<int>(cells.size()) + 1});
  }
  return lint_session(std::move(cells));
}

}  // namespace

void register_source(py::module_& m) {
  py::class_<UnusedIgnore>(m, "UnusedIgnore", "A remark that kept nothing quiet.")
      .def_readonly("cell", &UnusedIgnore::cell)
      .def_readonly("line", &UnusedIgnore::line)
      .def_readonly("text", &UnusedIgnore::text);
  py::class_<DoubtfulCell>(m, "DoubtfulCell", "A cell that the grammar did not wholly read.")
      .def_readonly("cell", &DoubtfulCell::cell)
      .def_readonly("python", &DoubtfulCell::python)
      .def_readonly("may_be_refused", &DoubtfulCell::may_be_refused)
      .def_readonly("cut_line", &DoubtfulCell::cut_line);
  py::class_<SourceReport>(m, "SourceReport", "What the source of one program says.")
      .def_readonly("findings", &SourceReport::findings)
      .def_readonly("unused", &SourceReport::unused)
      .def_readonly("doubtful", &SourceReport::doubtful);
  py::class_<LintedFile>(m, "LintedFile", "One file as `xleak lint` reads it.")
      .def_property_readonly("path", [](const LintedFile& file) { return decoded(file.path); })
      .def_property_readonly("problem", &problem_of)
      .def_readonly("is_notebook", &LintedFile::is_notebook)
      .def_readonly("has_cells", &LintedFile::has_cells)
      .def_readonly("first_lines", &LintedFile::first_lines)
      .def_readonly("sources", &LintedFile::sources)
      .def_readonly("report", &LintedFile::report)
      .def_readonly("modules", &LintedFile::modules);
  m.def("use_grammar", &use_grammar_of, py::arg("language"),
        "Say which grammar parses Python: the capsule of tree_sitter_python.language().");
  m.def(
      "lint_cells", &lint_cells, py::arg("texts"), py::call_guard<py::gil_scoped_release>(),
      "Run the source half of every smell over cells in the order in which they run, and over "
      "the modules of the working folder that they import. Raise MonitorError where no grammar was "
      "given.");
  m.def("lint_text", &lint_bytes, py::arg("path"), py::arg("data"),
        "Lint what a file of this name holds.");
  m.def("lint_files", &lint_paths, py::arg("paths"), py::arg("threads"),
        "Lint notebooks and scripts on several threads. What cannot be read says so in `problem`.");
}

}  // namespace xleak::bindings
