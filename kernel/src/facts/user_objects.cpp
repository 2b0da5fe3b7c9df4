#include "user_objects.hpp"

#include <array>
#include <cstdint>

#include "collector_paused.hpp"
#include "known_types.hpp"

namespace xleak::facts {
namespace {

/// Whether `test` is true of a type, or of one in a tuple of them.
template <typename Test>
bool any_of(PyObject* types, Test test) {
  if (PyType_Check(types)) return test(reinterpret_cast<PyTypeObject*>(types));
  for (Py_ssize_t at = 0; PyTuple_Check(types) && at < PyTuple_GET_SIZE(types); ++at) {
    if (any_of(PyTuple_GET_ITEM(types, at), test)) return true;
  }
  return false;
}

/// A list of what `make` returns for some entries of a dictionary, but where that is empty. What
/// fails leaves the Python error that it set.
template <typename Make>
Reference from_entries(PyObject* mapping, Part part, Make make) {
  const Py_ssize_t size = PyDict_GET_SIZE(mapping);
  const Py_ssize_t count = PySlice_AdjustIndices(size, &part.start, &part.stop, 1);
  Reference list = Reference::steal(PyList_New(0));
  // Each entry has a place, in their order, and some places are empty. So the last entries stand
  // at no place before their number.
  const bool at_end = part.stop == size;
  Py_ssize_t position = at_end ? part.start : 0;
  Py_ssize_t number = position;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (list && (at_end || number < part.stop) && PyDict_Next(mapping, &position, &key, &value)) {
    if (number++ < part.start) continue;
    const Reference made = make(key, value);
    if (made && PyList_Append(list.get(), made.get()) != 0) return {};
    if (PyErr_Occurred()) return {};
  }
  const Py_ssize_t surplus = list ? PyList_GET_SIZE(list.get()) - count : 0;
  if (surplus > 0 && PyList_SetSlice(list.get(), 0, surplus, nullptr) != 0) return {};
  return list;
}

/// By the iterator of the built-in type: a subclass may have one of its own.
Reference from_iterator_of(PyTypeObject* type, PyObject* container, Part part) {
  Reference list = Reference::steal(PyList_New(0));
  const Reference iterator = Reference::steal(type->tp_iter(container));
  if (!list || !iterator) return {};
  const iternextfunc next = Py_TYPE(iterator.get())->tp_iternext;
  for (Py_ssize_t number = 0; number < part.stop; ++number) {
    const Reference element = Reference::steal(next(iterator.get()));
    if (!element) break;
    if (number >= part.start && PyList_Append(list.get(), element.get()) != 0) return {};
  }
  return PyErr_Occurred() ? Reference() : std::move(list);
}

// As it was when xleak was imported: a program may put another in its place.
PyTypeObject* deque = nullptr;

/// The built-in type whose iterator shows the elements of `container`, or null.
PyTypeObject* iterated_as(PyObject* container) {
  for (PyTypeObject* type : {&PyTuple_Type, &PySet_Type, &PyFrozenSet_Type, deque}) {
    if (type != nullptr && PyType_IsSubtype(Py_TYPE(container), type)) return type;
  }
  return nullptr;
}

bool may_be_compared(PyObject* key) { return PyUnicode_CheckExact(key) || PyLong_CheckExact(key); }

/// Where a key was found last, or another one with the same remainder: an entry mostly keeps its
/// place, and after thousands of cells there are as many names before it. Under the GIL.
Py_ssize_t& last_place_of(PyObject* mapping, PyObject* key) {
  static std::array<Py_ssize_t, 61> places{};
  const auto mixed =
      reinterpret_cast<std::uintptr_t>(mapping) * 31 + reinterpret_cast<std::uintptr_t>(key);
  return places[mixed % places.size()];
}

}  // namespace

void remember_deque() {
  const Reference module = Reference::steal(PyImport_ImportModule("_collections"));
  deque = imported_type("_collections", "deque");
  Py_XINCREF(deque);
  if (PyErr_Occurred()) PyErr_Clear();
}

bool is_exactly(PyObject* value, PyObject* types) {
  return any_of(types, [value](PyTypeObject* type) { return Py_IS_TYPE(value, type); });
}

bool is_kind_of(PyObject* value, PyObject* types) {
  return any_of(
      types, [value](PyTypeObject* type) { return PyType_IsSubtype(Py_TYPE(value), type) != 0; });
}

Reference items_of(PyObject* mapping, Part part) {
  const CollectorPaused paused;
  if (!PyDict_Check(mapping)) return Reference::steal(PyList_New(0));
  return from_entries(mapping, part, [](PyObject* key, PyObject* value) {
    return Reference::steal(PyTuple_Pack(2, key, value));
  });
}

Reference entries_of(PyObject* mapping) {
  const CollectorPaused paused;
  Reference entries = Reference::steal(PyDict_New());
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (entries && PyDict_Check(mapping) && PyDict_Next(mapping, &position, &key, &value)) {
    if (may_be_compared(key) && PyDict_SetItem(entries.get(), key, value) != 0) return {};
  }
  return entries;
}

Reference names_in(PyObject* mapping) {
  const CollectorPaused paused;
  if (!PyDict_Check(mapping)) return Reference::steal(PyList_New(0));
  return from_entries(mapping, {}, [](PyObject* key, PyObject*) {
    return PyUnicode_CheckExact(key) ? Reference::share(key) : Reference();
  });
}

Reference values_of(PyObject* container, Part part) {
  const CollectorPaused paused;
  if (PyList_Check(container)) {
    PySlice_AdjustIndices(PyList_GET_SIZE(container), &part.start, &part.stop, 1);
    return Reference::steal(PyList_GetSlice(container, part.start, part.stop));
  }
  if (PyDict_Check(container)) {
    return from_entries(container, part,
                        [](PyObject*, PyObject* value) { return Reference::share(value); });
  }
  PyTypeObject* type = iterated_as(container);
  if (type == nullptr) return Reference::steal(PyList_New(0));
  PySlice_AdjustIndices(type->tp_as_sequence->sq_length(container), &part.start, &part.stop, 1);
  return from_iterator_of(type, container, part);
}

Reference value_at(PyObject* mapping, PyObject* key) {
  if (!PyDict_Check(mapping) || !may_be_compared(key)) return {};
  PyObject* own = nullptr;
  PyObject* value = nullptr;
  const auto is_it = [&] {
    return own == key ||
           (Py_TYPE(own) == Py_TYPE(key) && PyObject_RichCompareBool(own, key, Py_EQ) == 1);
  };
  Py_ssize_t& last = last_place_of(mapping, key);
  Py_ssize_t position = last;
  if (PyDict_Next(mapping, &position, &own, &value) && is_it()) return Reference::share(value);
  position = 0;
  while (PyDict_Next(mapping, &position, &own, &value)) {
    if (!is_it()) continue;
    // PyDict_Next has stepped behind it.
    last = position - 1;
    return Reference::share(value);
  }
  return {};
}

Reference fields_of_module(PyObject* name) {
  const Reference modules = Reference::share(PyImport_GetModuleDict());
  PyObject* module = PyDict_GetItemWithError(modules.get(), name);
  if (module == nullptr) PyErr_Clear();
  const bool is_module = module != nullptr && PyModule_Check(module);
  return is_module ? Reference::share(PyModule_GetDict(module)) : Reference::steal(PyDict_New());
}

}  // namespace xleak::facts
