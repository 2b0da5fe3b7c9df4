#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/places.hpp"
#include "bindings/register.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {

py::object place_of(SiteIndex index) {
  const auto site = site_at(index);
  if (!site) return py::none();
  // File names are bytes to the system, and a text that was cut may begin in the middle.
  const auto text = [](const std::string& bytes) {
    const auto length = static_cast<Py_ssize_t>(bytes.size());
    PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), length, "replace");
    if (decoded == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::str>(decoded);
  };
  return py::make_tuple(text(site->file), site->line, text(site->function));
}

namespace {

const char* name_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::heap:
      return "heap";
    case BlockKind::anonymous_map:
      return "anonymous_map";
    case BlockKind::file_map:
      return "file_map";
    case BlockKind::python_arena:
      return "python_arena";
  }
  return "";
}

std::vector<LargeBlock> list_blocks() {
  // Thousands of them take milliseconds.
  const py::gil_scoped_release others_run;
  return living_blocks();
}

py::list parts_of_peak() {
  py::list parts;
  for (const AtPeak& part : made_up_the_peak()) {
    parts.append(py::make_tuple(place_of(part.site), part.bytes));
  }
  return parts;
}

void register_types(py::module_& m) {
  py::class_<LedgerState>(m, "LedgerState", "Whether large blocks are known, and if not, why.")
      .def_readonly("installed", &LedgerState::installed)
      .def_readonly("reason", &LedgerState::reason)
      .def_readonly("slots", &LedgerState::slots);
  py::class_<LargeBlock>(m, "LargeBlock", "A live block of 64 KiB and more.")
      .def_readonly("address", &LargeBlock::address)
      .def_readonly("bytes", &LargeBlock::bytes)
      .def_readonly("reserved_bytes", &LargeBlock::reserved_bytes)
      .def_property_readonly("kind", [](const LargeBlock& block) { return name_of(block.kind); })
      .def_readonly("cell", &LargeBlock::cell)
      .def_readonly("order", &LargeBlock::order)
      .def_readonly("thread", &LargeBlock::thread)
      .def_property_readonly("site", [](const LargeBlock& block) { return place_of(block.site); });
  py::class_<BlockSums>(m, "BlockSums", "Of the large blocks of the heap; maps by their length.")
      .def_readonly("alive_bytes", &BlockSums::alive_bytes)
      .def_readonly("peak_bytes", &BlockSums::peak_bytes)
      .def_readonly("mapped_bytes", &BlockSums::mapped_bytes);
}

}  // namespace

void register_large_blocks(py::module_& m) {
  register_types(m);
  // Both go through the tables of all libraries, and may wait for one that is being loaded.
  m.def("install_ledger", &install_ledger, py::call_guard<py::gil_scoped_release>(),
        "Begin to follow blocks of 64 KiB and more of every library. "
        "Return the state, which says why where it cannot be done.");
  m.def("ledger_state", &ledger_state);
  m.def("uninstall_ledger", &uninstall_ledger, py::call_guard<py::gil_scoped_release>(),
        "Give the libraries their functions back.");
  m.def("births_belong_to", &births_belong_to, py::arg("cell"),
        "Say whose blocks are born from here on, 0 for no cell's, and begin a new peak.");
  m.def("living_blocks", &list_blocks, "Return every LargeBlock that is alive, by address.");
  m.def("block_sums", &block_sums, "Return what is alive, and its peak since births_belong_to().");
  m.def("made_up_the_peak", &parts_of_peak,
        "Return (site, bytes) of what was alive at that peak, the largest first.");
}

}  // namespace xleak::bindings
