#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "bindings/register.hpp"
#include "facts/collector_paused.hpp"
#include "facts/error_remains.hpp"
#include "facts/fingerprint.hpp"
#include "facts/live_objects.hpp"
#include "facts/parts.hpp"
#include "facts/python_heap.hpp"
#include "facts/shell_names.hpp"
#include "facts/user_objects.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

facts::Pointers pointers(const py::list& objects) {
  facts::Pointers pointers;
  for (const py::handle object : objects) pointers.insert(object.ptr());
  return pointers;
}

std::uint64_t fingerprint(const py::dict& entries, const std::vector<py::dict>& namespaces,
                          const py::object& last) {
  std::vector<PyObject*> dicts;
  for (const py::dict& dict : namespaces) dicts.push_back(dict.ptr());
  return facts::fingerprint(entries.ptr(), dicts, last.is_none() ? nullptr : last.ptr());
}

facts::ShellDicts shell_dicts(const py::dict& user_ns, const py::dict& hidden, const py::dict& out,
                              const py::dict& hook) {
  return {user_ns.ptr(), hidden.ptr(), out.ptr(), hook.ptr()};
}

py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

py::list cached_entries(const py::dict& user_ns, const py::dict& hidden, const py::dict& out,
                        const py::dict& hook, bool scalars) {
  // What is found is borrowed until it is in the list, and the tuples may set the collector off.
  const facts::CollectorPaused paused;
  const std::array<py::str, 4> places = {"out", "user_ns", "hidden", "hook"};
  py::list found;
  for (const auto& it : facts::cached_entries(shell_dicts(user_ns, hidden, out, hook), scalars)) {
    found.append(py::make_tuple(places[static_cast<std::size_t>(it.place)], borrowed(it.key),
                                borrowed(it.value), it.number, it.first));
  }
  return found;
}

py::list user_names(const py::dict& user_ns, const py::dict& hidden, const py::dict& out,
                    const py::dict& hook) {
  const facts::CollectorPaused paused;
  py::list names;
  for (PyObject* name : facts::user_names(shell_dicts(user_ns, hidden, out, hook)))
    names.append(borrowed(name));
  return names;
}

/// To ask for the length of an exact built-in container runs no code of the user's.
py::dict lengths_in(const py::dict& names, const py::tuple& types) {
  const facts::CollectorPaused paused;
  py::dict lengths;
  Py_ssize_t position = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(names.ptr(), &position, &name, &value)) {
    if (!facts::is_exactly(value, types.ptr())) continue;
    if (!PyUnicode_CheckExact(name) || facts::is_numbered(name)) continue;
    const auto identity = reinterpret_cast<std::intptr_t>(value);
    lengths[name] = py::make_tuple(identity, PyObject_Size(value));
  }
  return lengths;
}

}  // namespace

void register_facts(py::module_& m) {
  m.def("bindings_fingerprint", fingerprint, py::arg("entries"), py::arg("namespaces"),
        py::arg("last"), "Return a number that changes when a value or a reference to one does.");
  m.def("cached_entries", cached_entries, py::arg("user_ns"), py::arg("hidden"), py::arg("out"),
        py::arg("hook"), py::arg("scalars"),
        "Return (place, key, value, n of Out[n], first n of the value) of every reference of the "
        "shell's to a shown value.");
  m.def("user_names", user_names, py::arg("user_ns"), py::arg("hidden"), py::arg("out"),
        py::arg("hook"), "Return the user's names that are not the shell's doing.");
  m.def(
      "may_keep_memory",
      [](const py::object& error, const py::dict& user_ns) {
        return facts::may_keep_memory(error.ptr(), user_ns.ptr());
      },
      py::arg("error"), py::arg("user_ns"),
      "Return whether an error and its frames may keep more than a name of the user's shows.");
  m.def(
      "is_small_scalar",
      [](const py::object& value) { return facts::is_small_scalar(value.ptr()); }, py::arg("value"),
      "Return whether a value is text or a number, and small.");
  m.def(
      "parts_of",
      [](const py::object& object, const py::list& barriers) {
        return facts::parts_of(object.ptr(), pointers(barriers));
      },
      py::arg("object"), py::arg("barriers"),
      "Return the identities of an object and of all larger objects and buffers that it reaches.");
  m.def(
      "reaches",
      [](const py::object& object, const facts::Parts& parts, const py::list& barriers) {
        return facts::reaches(object.ptr(), parts, pointers(barriers));
      },
      py::arg("object"), py::arg("parts"), py::arg("barriers"),
      "Return whether an object is or reaches one of the parts.");
  m.def(
      "type_name",
      [](const py::object& object) { return std::string(Py_TYPE(object.ptr())->tp_name); },
      py::arg("object"), "Return the name that an object's type was made with.");
  m.def("lengths_in", lengths_in, py::arg("names"), py::arg("types"),
        "Return the id and the length of each value that is exactly of one of the types, by name.");
  m.def(
      "python_pools",
      [] {
        const auto pools = facts::python_pools();
        return pools ? std::optional(std::pair(pools->used, pools->arenas)) : std::nullopt;
      },
      "Return what is in use in CPython's own pools and what their arenas take, or None.");
}

}  // namespace xleak::bindings
