#include "bindings/register.hpp"
#include "xleak/monitor/error.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_native, m, py::multiple_interpreters::not_supported()) {
  m.attr("__version__") = XLEAK_VERSION;
  py::register_exception<xleak::monitor::Error>(m, "MonitorError", PyExc_RuntimeError);
  xleak::bindings::register_cells(m);
  xleak::bindings::register_findings(m);
  xleak::bindings::register_guard(m);
  xleak::bindings::register_flight(m);
  xleak::bindings::register_heap(m);
  xleak::bindings::register_large_blocks(m);
  xleak::bindings::register_graph(m);
  xleak::bindings::register_facts(m);
  xleak::bindings::register_frames(m);
  xleak::bindings::register_process(m);
  xleak::bindings::register_sight(m);
  xleak::bindings::register_source(m);
  xleak::bindings::register_user_objects(m);
}
