#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <tuple>

#include "bindings/register.hpp"
#include "xleak/monitor/flight_record.hpp"
#include "xleak/monitor/session.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {
namespace {

using Path = std::filesystem::path;
using Sample = std::tuple<double, std::int64_t, std::optional<std::int64_t>>;

// What a file holds need not be text.
py::str text_of(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

std::vector<Sample> samples_of(const FlightCell& cell) {
  std::vector<Sample> samples;
  for (const auto& [seconds, resident, available] : cell.samples) {
    samples.emplace_back(seconds, resident, available);
  }
  return samples;
}

void register_flight_cell(py::module_& m) {
  py::class_<FlightCell>(m, "FlightCell", "The cell that began last.")
      .def_readonly("index", &FlightCell::index)
      .def_readonly("execution_count", &FlightCell::execution_count)
      .def_property_readonly("cell_id", [](const FlightCell& c) { return text_of(c.cell_id); })
      .def_property_readonly("source", [](const FlightCell& c) { return text_of(c.source); })
      .def_readonly("running", &FlightCell::running)
      .def_readonly("began", &FlightCell::began)
      .def_property_readonly("samples", &samples_of);
}

void register_flight_record(py::module_& m) {
  py::class_<FlightRecord>(m, "FlightRecord", "What the file of a process says.")
      .def_readonly("pid", &FlightRecord::pid)
      .def_readonly("living", &FlightRecord::living)
      .def_readonly("same_boot", &FlightRecord::same_boot)
      .def_readonly("started", &FlightRecord::started)
      .def_property_readonly(
          "connection_file",
          [](const FlightRecord& r) { return text_of(r.identity.connection_file); })
      .def_property_readonly("folder",
                             [](const FlightRecord& r) { return text_of(r.identity.folder); })
      .def_property_readonly("versions",
                             [](const FlightRecord& r) { return text_of(r.identity.versions); })
      .def_readonly("cell", &FlightRecord::cell)
      .def_readonly("limit_bytes", &FlightRecord::limit_bytes)
      .def_readonly("limit_is_group", &FlightRecord::limit_is_group)
      .def_property_readonly("kills_before",
                             [](const FlightRecord& r) {
                               return std::make_tuple(r.kills_before.group, r.kills_before.machine);
                             })
      .def_property_readonly("kills_after",
                             [](const FlightRecord& r) {
                               return std::make_tuple(r.kills_after.group, r.kills_after.machine);
                             })
      .def_readonly("asked_to_end", &FlightRecord::asked_to_end)
      .def_readonly("told", &FlightRecord::told)
      .def_readonly("exit_status", &FlightRecord::exit_status);
}

}  // namespace

void register_flight(py::module_& m) {
  register_flight_cell(m);
  register_flight_record(m);
  m.def(
      "keep_flight_record",
      [](const Path& path, std::string connection_file, std::string folder, std::string versions) {
        Session::instance().keep_flight_record(
            path.string(), {std::move(connection_file), std::move(folder), std::move(versions)});
      },
      py::arg("path"), py::arg("connection_file"), py::arg("folder"), py::arg("versions"),
      "Keep the last cell and its sizes in this new file. Raise MonitorError where it cannot be "
      "made.");
  m.def(
      "drop_flight_record", [] { Session::instance().drop_flight_record(); },
      "Delete that file, if there is one.");
  m.def(
      "announce_cell",
      [](const py::bytes& source, std::optional<int> execution_count) {
        Session::instance().announce_cell(std::string_view(source), execution_count);
      },
      py::arg("source"), py::arg("execution_count"),
      "Say what the next cell is, for that file alone.");
  m.def(
      "cell_answered", [] { Session::instance().cell_answered(); },
      "Say that the reply to the cell that ended last is sent, for that file alone.");
  m.def(
      "read_flight_record", [](const Path& path) { return read_flight_record(path.string()); },
      py::arg("path"), "Read a record. Raise MonitorError, also for a file that is none.");
  m.def(
      "mark_flight_told", [](const Path& path) { mark_flight_told(path.string()); },
      py::arg("path"), "Note in a record that the next session has told of it.");
  m.def(
      "mark_flight_exit",
      [](const Path& path, int exit_status) { mark_flight_exit(path.string(), exit_status); },
      py::arg("path"), py::arg("exit_status"),
      "Note in a record how its process ended; negative is a signal.");
}

}  // namespace xleak::bindings
