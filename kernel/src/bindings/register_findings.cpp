#include <pybind11/stl.h>

#include "bindings/register.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/error.hpp"
#include "xleak/monitor/machine.hpp"
#include "xleak/monitor/session.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {
namespace {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

const char* name_of(Basis basis) { return basis == Basis::measured ? "measured" : "source"; }

std::optional<std::int64_t> known_ram_bytes() {
  try {
    return ram_bytes();
  } catch (const Error&) {
    return std::nullopt;
  }
}

Judgement judge(int cell, std::vector<OutputEntry> outputs, std::vector<Holder> holders) {
  // Reading it takes a dozen files; it does not change while a process runs.
  static const auto ram = known_ram_bytes();
  return Session::instance().judge({cell, ram, std::move(outputs), std::move(holders), {}});
}

void register_smell(py::module_& m) {
  py::class_<Smell>(m, "Smell")
      .def_property_readonly("code", [](const Smell& s) { return s.code; })
      .def_property_readonly("slug", [](const Smell& s) { return s.slug; })
      .def_property_readonly("severity", [](const Smell& s) { return name_of(s.severity); })
      .def_property_readonly("in_source", [](const Smell& s) { return s.in_source != nullptr; })
      .def_property_readonly("at_run_time",
                             [](const Smell& s) { return s.at_run_time != nullptr; });
}

void register_finding(py::module_& m) {
  py::class_<Edit>(m, "Edit", "Bytes [start, stop) of a cell become `text`.")
      .def_readonly("cell", &Edit::cell)
      .def_readonly("start", &Edit::start)
      .def_readonly("stop", &Edit::stop)
      .def_readonly("text", &Edit::text);
  py::class_<Fix>(m, "Fix")
      .def_readonly("title", &Fix::title)
      .def_readonly("code", &Fix::code)
      .def_readonly("edits", &Fix::edits)
      .def_readonly("safe", &Fix::safe);
  const auto of = [](auto field) { return [field](const Verdict& v) { return v.finding.*field; }; };
  py::class_<Verdict>(m, "Finding", "One leak: where, how much, held by what, what to type next.")
      .def_property_readonly("code", [](const Verdict& v) { return v.smell->code; })
      .def_property_readonly("slug", [](const Verdict& v) { return v.smell->slug; })
      .def_property_readonly("severity", [](const Verdict& v) { return name_of(v.severity); })
      .def_property_readonly("basis", [](const Verdict& v) { return name_of(v.finding.basis); })
      .def_property_readonly("cell", of(&Finding::cell))
      .def_property_readonly("cause_cell", of(&Finding::cause_cell))
      .def_property_readonly("line", of(&Finding::line))
      .def_property_readonly("column", of(&Finding::column))
      .def_property_readonly("bytes", of(&Finding::bytes))
      .def_property_readonly("name", of(&Finding::name))
      .def_property_readonly("holders", of(&Finding::holders))
      .def_property_readonly("path", of(&Finding::path))
      .def_property_readonly("timed_lines",
                             [](const Verdict& verdict) {
                               std::vector<std::tuple<int, int, int>> lines;
                               for (const Lines& it : verdict.finding.timed_lines) {
                                 lines.emplace_back(it.cell, it.first, it.last);
                               }
                               return lines;
                             })
      .def_property_readonly("message", of(&Finding::message))
      .def_property_readonly("fixes", of(&Finding::fixes))
      .def_property_readonly("key", of(&Finding::key));
}

void register_judgement(py::module_& m) {
  py::class_<Judgement>(m, "Judgement", "What changed by one look at the facts.")
      .def_readonly("added", &Judgement::added)
      .def_readonly("changed", &Judgement::changed)
      .def_readonly("resolved", &Judgement::resolved);
  py::class_<OutputEntry>(m, "OutputEntry", "One entry of the shell's output cache, as measured.")
      .def(py::init([](int number, std::optional<int> shown_cell, std::int64_t held_bytes,
                       bool mentioned, std::string type_name, std::vector<std::string> holders,
                       std::vector<int> together, std::optional<int> line) {
             return OutputEntry{number,
                                shown_cell,
                                held_bytes,
                                mentioned,
                                std::move(type_name),
                                std::move(holders),
                                std::move(together),
                                line};
           }),
           py::arg("number"), py::arg("shown_cell"), py::arg("held_bytes"), py::arg("mentioned"),
           py::arg("type_name"), py::arg("holders"), py::arg("together") = std::vector<int>{},
           py::arg("line") = py::none())
      .def_readonly("number", &OutputEntry::number)
      .def_readonly("shown_cell", &OutputEntry::shown_cell)
      .def_readonly("held_bytes", &OutputEntry::held_bytes)
      .def_readonly("mentioned", &OutputEntry::mentioned)
      .def_readonly("type_name", &OutputEntry::type_name)
      .def_readonly("holders", &OutputEntry::holders)
      .def_readonly("together", &OutputEntry::together)
      .def_readonly("line", &OutputEntry::line);
  py::class_<Holder>(m, "Holder", "What keeps memory that no name and no output entry reaches.")
      .def(py::init([](std::string kind, std::string label, std::int64_t held_bytes,
                       std::optional<int> since_cell, std::string largest, int count,
                       std::string release, std::int64_t shown_bytes, std::optional<int> line) {
             return Holder{std::move(kind),    std::move(label),   held_bytes,
                           since_cell,         std::move(largest), count,
                           std::move(release), shown_bytes,        line};
           }),
           py::arg("kind"), py::arg("label"), py::arg("held_bytes"), py::arg("since_cell"),
           py::arg("largest"), py::arg("count"), py::arg("release"), py::arg("shown_bytes") = 0,
           py::arg("line") = py::none())
      .def_readonly("kind", &Holder::kind)
      .def_readonly("label", &Holder::label)
      .def_readonly("held_bytes", &Holder::held_bytes)
      .def_readonly("since_cell", &Holder::since_cell)
      .def_readonly("largest", &Holder::largest)
      .def_readonly("count", &Holder::count)
      .def_readonly("release", &Holder::release)
      .def_readonly("shown_bytes", &Holder::shown_bytes)
      .def_readonly("line", &Holder::line);
}

}  // namespace

void register_findings(py::module_& m) {
  register_smell(m);
  register_finding(m);
  register_judgement(m);
  m.def("judge", &judge, py::arg("cell"), py::arg("outputs"), py::arg("holders"),
        "Run every smell over the facts of the whole session and return what changed.");
  m.def(
      "set_rules_off",
      [](std::set<std::string> codes) { Session::instance().set_rules_off(std::move(codes)); },
      py::arg("codes"), "From the next judge() on the rules with these codes find nothing.");
  m.def(
      "findings", [] { return Session::instance().findings(); },
      "Return what is known to leak, most bytes first.");
  m.def("smells", &all_smells, py::return_value_policy::reference,
        "Return every smell that is built in.");
  m.def("ram_bytes", &ram_bytes, py::call_guard<py::gil_scoped_release>(),
        "Return the memory of the machine, or of this process's cgroup where that is less. "
        "Raise MonitorError where /proc/meminfo cannot be read.");
  m.def("human", &human, py::arg("bytes"), "Return a size in binary units, as in '64 MiB'.");
}

}  // namespace xleak::bindings
