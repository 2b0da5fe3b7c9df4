#include <pybind11/pybind11.h>

#include "bindings/register.hpp"
#include "facts/python_versions.hpp"
#include "facts/user_objects.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

py::object given(const facts::Reference& made) {
  if (!made) throw py::error_already_set();
  return py::reinterpret_borrow<py::object>(made.get());
}

bool is_exactly(const py::object& value, const py::object& types) {
  return facts::is_exactly(value.ptr(), types.ptr());
}

bool is_kind_of(const py::object& value, const py::object& types) {
  return facts::is_kind_of(value.ptr(), types.ptr());
}

py::object items_of(const py::object& mapping, Py_ssize_t start, Py_ssize_t stop) {
  return given(facts::items_of(mapping.ptr(), {start, stop}));
}

py::object entries_of(const py::object& mapping) { return given(facts::entries_of(mapping.ptr())); }

py::object names_in(const py::object& mapping) { return given(facts::names_in(mapping.ptr())); }

py::object values_of(const py::object& container, Py_ssize_t start, Py_ssize_t stop) {
  return given(facts::values_of(container.ptr(), {start, stop}));
}

py::object value_at(const py::object& mapping, const py::object& key) {
  const facts::Reference found = facts::value_at(mapping.ptr(), key.ptr());
  return found ? given(found) : py::none();
}

bool may_have_run(const py::object& code) {
  if (!PyCode_Check(code.ptr())) throw py::type_error("may_have_run: no code object");
  return facts::may_have_run(reinterpret_cast<const PyCodeObject*>(code.ptr()));
}

py::object locals_of(const py::object& frame) {
  if (!PyFrame_Check(frame.ptr())) throw py::type_error("locals_of: no frame");
  const auto found = facts::locals_of(reinterpret_cast<PyFrameObject*>(frame.ptr()));
  return found ? given(found) : py::dict();
}

py::object fields_of_module(const py::str& name) {
  return given(facts::fields_of_module(name.ptr()));
}

}  // namespace

void register_user_objects(py::module_& m) {
  facts::remember_deque();
  const facts::Part all;
  m.def("is_exactly", is_exactly, py::arg("value"), py::arg("types"),
        "Return whether an object is of one of the types itself, and of no subtype.");
  m.def("is_kind_of", is_kind_of, py::arg("value"), py::arg("types"),
        "Return whether an object's type is one of the types or derives from one.");
  m.def("items_of", items_of, py::arg("mapping"), py::arg("start") = all.start,
        py::arg("stop") = all.stop, "Return the (key, value) pairs of a dictionary.");
  m.def("entries_of", entries_of, py::arg("mapping"),
        "Return a copy of a dictionary's entries under exact text and integers.");
  m.def("names_in", names_in, py::arg("mapping"),
        "Return the keys of a dictionary that are exact text.");
  m.def("values_of", values_of, py::arg("container"), py::arg("start") = all.start,
        py::arg("stop") = all.stop, "Return what a built-in container has.");
  m.def("value_at", value_at, py::arg("mapping"), py::arg("key"),
        "Return what a dictionary has under a text or an integer, or None.");
  m.def("may_have_run", may_have_run, py::arg("code"),
        "Return whether a function with this code may have been called.");
  m.def("locals_of", locals_of, py::arg("frame"),
        "Return a copy of the local variables of a function that runs, by name.");
  m.def("fields_of_module", fields_of_module, py::arg("name"),
        "Return the dictionary of an imported module.");
}

}  // namespace xleak::bindings
