#include <pybind11/stl.h>

#include <tuple>

#include "bindings/register.hpp"
#include "facts/line_times.hpp"
#include "xleak/monitor/session.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {
namespace {

using Bytes = std::optional<std::int64_t>;
// Device, allocated, reserved, peak, inactive split, handed out, the cell's own peak, total.
using DeviceTuple = std::tuple<std::string, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes>;
// Kept, peak, allocated.
using TensorTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

std::vector<DeviceReading> readings_of(const std::vector<DeviceTuple>& devices) {
  std::vector<DeviceReading> readings;
  for (const auto& [device, allocated, reserved, peak, split, handed_out, cell_peak, total] :
       devices) {
    readings.push_back({device, allocated, reserved, peak, split, handed_out, cell_peak, total});
  }
  return readings;
}

const char* name_of(CellStatus status) {
  switch (status) {
    case CellStatus::running:
      return "running";
    case CellStatus::ok:
      return "ok";
    case CellStatus::error:
      return "error";
  }
  return "error";
}

CellStatus ended_status_of(const std::string& name) {
  if (name == "ok") return CellStatus::ok;
  if (name == "error") return CellStatus::error;
  throw py::value_error("a cell ends with status 'ok' or 'error', not '" + name + "'");
}

int begin_cell(std::optional<std::string> cell_id, std::optional<int> execution_count,
               const std::vector<DeviceTuple>& devices, Bytes python_blocks, Bytes python_bytes) {
  return Session::instance().begin_cell(
      {std::move(cell_id), execution_count},
      {python_blocks, readings_of(devices), std::nullopt, python_bytes});
}

void end_cell(int index, const std::string& status, std::optional<int> execution_count,
              Bytes python_blocks, const std::vector<DeviceTuple>& devices,
              const std::optional<TensorTuple>& tensors, Bytes python_bytes) {
  std::optional<TensorUse> use;
  if (tensors) {
    const auto& [kept, peak, allocated] = *tensors;
    use = TensorUse{kept, peak, allocated};
  }
  Session::instance().end_cell(index, ended_status_of(status), execution_count,
                               {python_blocks, readings_of(devices), use, python_bytes});
}

// File, line, bytes.
std::vector<std::tuple<std::string, int, std::int64_t>> at_peak(const CellRecord& record) {
  std::vector<std::tuple<std::string, int, std::int64_t>> lines;
  if (!record.blocks) return lines;
  for (const AtPeak& part : record.blocks->at_peak) {
    if (const auto site = site_at(part.site))
      lines.emplace_back(site->file, site->line, part.bytes);
  }
  return lines;
}

void register_device_use(py::module_& m) {
  py::class_<DeviceUse>(m, "DeviceUse")
      .def_readonly("device", &DeviceUse::device)
      .def_readonly("allocated_kept_bytes", &DeviceUse::allocated_kept_bytes)
      .def_readonly("allocated_peak_bytes", &DeviceUse::allocated_peak_bytes)
      .def_readonly("reserved_bytes", &DeviceUse::reserved_bytes)
      .def_readonly("allocated_bytes", &DeviceUse::allocated_bytes)
      .def_readonly("total_bytes", &DeviceUse::total_bytes);
}

void register_cell_record(py::module_& m) {
  py::class_<CellRecord>(m, "CellRecord",
                         "What one cell did to the process; None is unknown, never zero. "
                         "Sizes in bytes.")
      .def_readonly("index", &CellRecord::index)
      .def_property_readonly("cell_id", [](const CellRecord& r) { return r.identity.cell_id; })
      .def_property_readonly("execution_count",
                             [](const CellRecord& r) { return r.identity.execution_count; })
      .def_property_readonly("status", [](const CellRecord& r) { return name_of(r.status); })
      .def_readonly("is_own", &CellRecord::is_own)
      .def_readonly("seconds", &CellRecord::seconds)
      .def_readonly("cpu_seconds", &CellRecord::cpu_seconds)
      .def_readonly("resident_before_bytes", &CellRecord::resident_before_bytes)
      .def_readonly("resident_after_bytes", &CellRecord::resident_after_bytes)
      .def_readonly("resident_peak_bytes", &CellRecord::resident_peak_bytes)
      .def_readonly("peak_is_exact", &CellRecord::peak_is_exact)
      .def_readonly("heap_kept_bytes", &CellRecord::heap_kept_bytes)
      .def_readonly("heap_free_bytes", &CellRecord::heap_free_bytes)
      .def_readonly("small_heap_kept_bytes", &CellRecord::small_heap_kept_bytes)
      .def_readonly("python_blocks_kept", &CellRecord::python_blocks_kept)
      .def_readonly("python_bytes_kept", &CellRecord::python_bytes_kept)
      .def_property_readonly("tensor_kept_bytes",
                             [](const CellRecord& r) {
                               return r.tensors ? Bytes(r.tensors->kept_bytes) : std::nullopt;
                             })
      .def_property_readonly("tensor_peak_bytes",
                             [](const CellRecord& r) {
                               return r.tensors ? Bytes(r.tensors->peak_bytes) : std::nullopt;
                             })
      .def_property_readonly("tensor_allocated_bytes",
                             [](const CellRecord& r) {
                               return r.tensors ? Bytes(r.tensors->allocated_bytes) : std::nullopt;
                             })
      .def_property_readonly("allocated_alive_bytes",
                             [](const CellRecord& r) {
                               return r.blocks ? Bytes(r.blocks->alive_bytes) : std::nullopt;
                             })
      .def_property_readonly(
          "allocated_peak_bytes",
          [](const CellRecord& r) { return r.blocks ? Bytes(r.blocks->peak_bytes) : std::nullopt; })
      .def_property_readonly("at_peak", &at_peak)
      .def_readonly("minor_faults", &CellRecord::minor_faults)
      .def_readonly("major_faults", &CellRecord::major_faults)
      .def_readonly("devices", &CellRecord::devices);
}

void follow_lines(const py::dict& globals) {
  facts::LineTimes::instance().follow(globals.ptr());
  Session::instance().beat_by([] { facts::LineTimes::instance().beat(); });
}

std::pair<std::vector<std::tuple<std::string, int, double>>, double> line_times() {
  const auto [lines, all] = facts::LineTimes::instance().times();
  std::vector<std::tuple<std::string, int, double>> shaped;
  for (const auto& [file, line, seconds] : lines) shaped.emplace_back(file, line, seconds);
  return {std::move(shaped), all};
}

std::optional<std::tuple<int, double, std::int64_t, std::int64_t>> running_cell() {
  const auto cell = Session::instance().running();
  if (!cell) return std::nullopt;
  return std::make_tuple(cell->index, cell->seconds, cell->resident_before_bytes,
                         cell->resident_bytes);
}

}  // namespace

// The Python lock is kept throughout: these take microseconds, and to get it back from another
// thread can take milliseconds.
void register_cells(py::module_& m) {
  register_device_use(m);
  register_cell_record(m);
  m.def("begin_cell", &begin_cell, py::arg("cell_id"), py::arg("execution_count"),
        py::arg("devices"), py::arg("python_blocks") = py::none(),
        py::arg("python_bytes") = py::none(),
        "Start the account of a cell; return its index, from 1, or 0 where accounting is off.");
  m.def("end_cell", &end_cell, py::arg("index"), py::arg("status"), py::arg("execution_count"),
        py::arg("python_blocks"), py::arg("devices"), py::arg("tensors") = py::none(),
        py::arg("python_bytes") = py::none(),
        "End the account of a cell; an index that is 0, unknown or ended is left alone.");
  m.def(
      "exclude_python_use",
      [](std::int64_t blocks, std::int64_t bytes) {
        Session::instance().exclude_python_use(blocks, bytes);
      },
      py::arg("blocks"), py::arg("bytes"),
      "xleak itself made this of Python's allocator: no cell kept it.");
  m.def(
      "mark_own", [](int index) { Session::instance().mark_own(index); }, py::arg("index"),
      "The cell is xleak's own: it counts in no sum.");
  m.def(
      "latest_record", [] { return Session::instance().latest_record(); },
      "Return the record of the cell that began last.");
  m.def(
      "records", [] { return Session::instance().records(); }, "Return all records, oldest first.");
  m.def(
      "record", [](int index) { return Session::instance().record(index); }, py::arg("index"),
      "Return the record of one index, or None.");
  m.def(
      "resident_bytes", [] { return Session::instance().resident_bytes(); },
      "Return what the process takes now, or None.");
  m.def(
      "change_of",
      [](int index) {
        const auto change = Session::instance().change_of(index);
        const Bytes moved = change.heap_is_known ? Bytes(change.moved_bytes) : std::nullopt;
        return std::make_tuple(moved, change.kept_bytes, change.spike_bytes);
      },
      py::arg("index"), "Return (moved, kept, spike), in bytes, of one cell.");
  m.def(
      "read_devices_by",
      [](const py::capsule& reader) {
        void* const found = PyCapsule_GetPointer(reader.ptr(), kDeviceReaderCapsule);
        if (found == nullptr) throw py::error_already_set();
        Session::instance().read_devices_by(reinterpret_cast<DeviceReader>(found));
      },
      py::arg("reader"), "Read devices while a cell runs by xleak._torch.device_reader().");
  m.def("follow_lines", &follow_lines, py::arg("globals"),
        "From now on sample, every 50 ms, the line of the code with these globals that a cell is "
        "in.");
  m.def(
      "call_while_running",
      [](const py::object& hook, double every_seconds) {
        facts::LineTimes::instance().call(hook.ptr(), every_seconds);
      },
      py::arg("hook"), py::arg("every_seconds"),
      "Call hook() now and then while a cell runs, between two instructions of its code.");
  m.def("running_cell", &running_cell,
        "Return (index, seconds, resident before, resident now) of the youngest cell that runs.");
  m.def(
      "begin_line_times", [] { facts::LineTimes::instance().begin(); },
      "A cell begins: forget where the time of the last one went.");
  m.def("line_times", &line_times,
        "Return ([(file, line, seconds)], all seconds) since the last cell began.");
  m.def(
      "set_enabled", [](bool enabled) { Session::instance().set_enabled(enabled); },
      py::arg("enabled"), "Switch the accounting of new cells on or off.");
  m.def(
      "enabled", [] { return Session::instance().enabled(); },
      "Return whether new cells are accounted.");
}

}  // namespace xleak::bindings
