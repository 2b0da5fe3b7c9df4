#include <pybind11/stl.h>

#include "bindings/register.hpp"
#include "xleak/monitor/heap.hpp"
#include "xleak/monitor/process_pages.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {

void register_heap(py::module_& m) {
  py::class_<HeapUse>(m, "Heap", "The C heap of this process, all arenas.")
      .def_readonly("used_bytes", &HeapUse::used_bytes)
      .def_readonly("free_bytes", &HeapUse::free_bytes);
  py::class_<ProcessPages>(m, "ProcessPages", "What the pages in memory were mapped for.")
      .def_readonly("files", &ProcessPages::files)
      .def_readonly("shared", &ProcessPages::shared)
      .def_readonly("others", &ProcessPages::others)
      .def_readonly("free_heap", &ProcessPages::free_heap)
      .def_readonly("small_heap", &ProcessPages::small_heap);
  m.def("process_pages", &process_pages, py::call_guard<py::gil_scoped_release>(),
        "Return what the pages of this process that are in memory were mapped for, now. "
        "Raise MonitorError where that cannot be had.");
  // Both walk malloc's lists, which takes milliseconds in a large process.
  m.def("heap", &read_heap, py::call_guard<py::gil_scoped_release>(),
        "Return what malloc handed out and what it keeps for later, now. "
        "Raise MonitorError where malloc is not glibc's own.");
  m.def("releasable_heap_bytes", &releasable_heap_bytes, py::call_guard<py::gil_scoped_release>(),
        "Return what trim_heap() would give back at least, or None where that is unknown.");
  m.def("trim_heap", &trim_heap, py::call_guard<py::gil_scoped_release>(),
        "Give free pages of the C heap back; return the bytes by which the resident size fell.");
}

}  // namespace xleak::bindings
