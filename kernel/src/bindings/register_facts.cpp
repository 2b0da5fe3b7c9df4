#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/limits.hpp"
#include "bindings/register.hpp"
#include "facts/output_cache.hpp"
#include "facts/parts.hpp"
#include "facts/python_heap.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

using facts::OutputCache;
using facts::OutputFacts;

facts::Pointers pointers(const py::list& objects) {
  facts::Pointers pointers;
  for (const py::handle object : objects) pointers.insert(object.ptr());
  return pointers;
}

bool examine(OutputCache& cache, const py::dict& out, const py::dict& user_ns,
             const py::dict& hidden_ns, const py::dict& display_hook,
             const std::optional<py::dict>& last_result, std::set<std::string> tool_names,
             std::set<int> mentioned, const py::list& barriers, std::optional<double> deadline_ms,
             const Interrupted& interrupted) {
  facts::CacheView view;
  view.out = out.ptr();
  view.user_ns = user_ns.ptr();
  view.hidden_ns = hidden_ns.ptr();
  view.display_hook = display_hook.ptr();
  view.last_result = last_result ? last_result->ptr() : nullptr;
  view.tool_names = std::move(tool_names);
  view.mentioned = std::move(mentioned);
  view.barriers = pointers(barriers);
  const AskedLimits asked(deadline_ms, interrupted);
  const bool complete = cache.examine(view, asked.limits());
  asked.raise();
  return complete;
}

facts::Bytes would_free(const py::list& objects, const std::map<std::intptr_t, int>& dropped,
                        const py::list& named, const py::list& barriers) {
  std::vector<PyObject*> roots;
  for (const py::handle object : objects) roots.push_back(object.ptr());
  facts::CacheReferences references;
  for (const auto& [identity, count] : dropped) {
    references[reinterpret_cast<PyObject*>(identity)] = count;
  }
  return facts::would_free(roots, references, pointers(named), pointers(barriers));
}

/// To ask for the length of an exact built-in container runs no code of the user's.
py::dict lengths_in(const py::dict& names, const py::tuple& types) {
  py::dict lengths;
  Py_ssize_t position = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  const auto is_type_of_value = [&value](py::handle type) {
    return type.ptr() == reinterpret_cast<PyObject*>(Py_TYPE(value));
  };
  while (PyDict_Next(names.ptr(), &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) continue;
    if (std::none_of(types.begin(), types.end(), is_type_of_value)) continue;
    const auto identity = reinterpret_cast<std::intptr_t>(value);
    lengths[name] = py::make_tuple(identity, PyObject_Size(value));
  }
  return lengths;
}

}  // namespace

void register_facts(py::module_& m) {
  py::class_<OutputFacts>(m, "OutputFacts", "What is known of one entry of the output cache.")
      .def_readonly("number", &OutputFacts::number)
      .def_readonly("held", &OutputFacts::held)
      .def_property_readonly("held_bytes",
                             [](const OutputFacts& entry) { return facts::total(entry.held); })
      .def_readonly("total_bytes", &OutputFacts::total_bytes)
      .def_readonly("type_name", &OutputFacts::type_name)
      .def_readonly("holders", &OutputFacts::holders)
      .def_readonly("settled", &OutputFacts::settled);
  py::class_<OutputCache>(m, "OutputCache", "Follows the output cache from cell to cell.")
      .def(py::init<>())
      .def("examine", examine, py::arg("out"), py::arg("user_ns"), py::arg("hidden_ns"),
           py::arg("display_hook"), py::arg("last_result"), py::arg("tool_names"),
           py::arg("mentioned"), py::arg("barriers"), py::arg("deadline_ms"),
           py::arg("interrupted"),
           "Look again at what may have changed. False: out of time, call it again to go on.")
      .def("entries", &OutputCache::entries, "Return the entries that keep more than 64 KiB.")
      .def(
          "identity_of",
          [](const OutputCache& cache, int number) -> std::optional<std::intptr_t> {
            PyObject* identity = cache.identity_of(number);
            if (identity == nullptr) return std::nullopt;
            return reinterpret_cast<std::intptr_t>(identity);
          },
          py::arg("number"), "Return the id of an entry's value, also where it is gone from Out.");
  m.def(
      "parts_of",
      [](const py::object& object, const py::list& barriers) {
        return facts::parts_of(object.ptr(), pointers(barriers));
      },
      py::arg("object"), py::arg("barriers"),
      "Return the identities of an object and of all larger objects and buffers that it reaches.");
  m.def(
      "reaches",
      [](const py::object& object, const facts::Parts& parts, const py::list& barriers,
         std::optional<double> deadline_ms) {
        return facts::reaches(object.ptr(), parts, pointers(barriers), limits_of(deadline_ms));
      },
      py::arg("object"), py::arg("parts"), py::arg("barriers"), py::arg("deadline_ms"),
      "Return whether an object is or reaches one of the parts.");
  m.def("would_free", would_free, py::arg("objects"), py::arg("dropped"), py::arg("named"),
        py::arg("barriers"),
        "Return the bytes, by owner, that go once the dropped references to the objects do.");
  m.def(
      "type_name",
      [](const py::object& object) { return std::string(Py_TYPE(object.ptr())->tp_name); },
      py::arg("object"), "Return the name that an object's type was made with.");
  m.def("lengths_in", lengths_in, py::arg("names"), py::arg("types"),
        "Return the id and the length of each value that is exactly of one of the types, by name.");
  m.def("python_pool_bytes", facts::python_pool_bytes,
        "Return the bytes in use in CPython's own pools, or None where it does not tell.");
}

}  // namespace xleak::bindings
