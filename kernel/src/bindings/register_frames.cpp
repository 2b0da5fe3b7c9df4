#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "bindings/register.hpp"
#include "frames/line_table.hpp"
#include "frames/reader.hpp"
#include "frames/user_line.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

using Place = std::optional<std::tuple<std::string, int, std::string>>;

Place as_place(monitor::SiteIndex index) {
  const auto site = monitor::site_at(index);
  if (!site) return std::nullopt;
  return std::tuple(site->file, site->line, site->function);
}

Place line_here() { return as_place(frames::user_line()); }

Place line_without_gil() {
  monitor::SiteIndex index = 0;
  {
    const py::gil_scoped_release released;
    index = frames::user_line();
  }
  return as_place(index);
}

Place line_on_native_thread() {
  monitor::SiteIndex index = 0;
  {
    const py::gil_scoped_release released;
    std::thread([&index] { index = frames::user_line(); }).join();
  }
  return as_place(index);
}

/// As a library does that calls back: Python's frames lie on both sides of C's.
Place line_in(const py::function& function) {
  Place last;
  function(py::cpp_function([&last] { last = line_without_gil(); }));
  return last;
}

void read_lines(std::size_t times, bool forgetting, bool without_gil) {
  const auto read = [&] {
    for (std::size_t i = 0; i < times; ++i) {
      if (forgetting) frames::forget_lines();
      frames::user_line();
    }
  };
  if (!without_gil) return read();
  const py::gil_scoped_release released;
  read();
}

int line_at(const py::object& code, std::ptrdiff_t offset) {
  if (!PyCode_Check(code.ptr())) throw py::type_error("line_at() wants a code object");
  return frames::line_at(reinterpret_cast<PyCodeObject*>(code.ptr()), offset);
}

}  // namespace

void register_frames(py::module_& m) {
  m.def("install_line_reader", frames::install_reader,
        "Let each large block remember the user's line that asked for it, until Python ends.");
  m.def("uninstall_line_reader", frames::uninstall_reader, "Let blocks have no line any more.");
  m.def("line_here", line_here, "Return (file, line, function) of the user's innermost code.");
  m.def("line_without_gil", line_without_gil, "Return the same, read while others have the GIL.");
  m.def("line_on_native_thread", line_on_native_thread,
        "Return what a thread that Python does not know reads.");
  m.def(
      "line_in", line_in, py::arg("function"),
      "Call the function with one that reads the line without the GIL; return what it read last.");
  m.def("read_lines", read_lines, py::arg("times"), py::arg("forgetting") = false,
        py::arg("without_gil") = false, "Read the line so many times, for measurements.");
  m.def("forget_lines", frames::forget_lines, "Forget the lines that were found before.");
  m.def("line_at", line_at, py::arg("code"), py::arg("offset"),
        "Return the line of the instruction at a byte offset into a code object.");
}

}  // namespace xleak::bindings
