#pragma once
#include <Python.h>

#include <utility>

#include "python_versions.hpp"

namespace xleak::facts {

/// Owns one reference to a Python object. The GIL must be held wherever it is used.
class Reference {
 public:
  Reference() = default;
  static Reference steal(PyObject* object) { return Reference(object); }
  static Reference share(PyObject* object) { return Reference(Py_XNewRef(object)); }
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Reference(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// The descriptor `name` of exactly `type`, applied to `object`: the object's own attribute lookup
/// is never asked. Empty, with no Python error set, where that fails.
inline Reference read_descriptor(PyTypeObject* type, const char* name, PyObject* object) {
  PyObject* descriptor = PyDict_GetItemString(dict_of_type(type), name);
  if (descriptor == nullptr || Py_TYPE(descriptor)->tp_descr_get == nullptr) return {};
  PyObject* value =
      Py_TYPE(descriptor)->tp_descr_get(descriptor, object, (PyObject*)Py_TYPE(object));
  if (value == nullptr) PyErr_Clear();
  return Reference::steal(value);
}

/// The same for a method without arguments.
inline Reference call_descriptor(PyTypeObject* type, const char* name, PyObject* object) {
  const Reference method = read_descriptor(type, name, object);
  if (!method) return {};
  PyObject* value = PyObject_CallNoArgs(method.get());
  if (value == nullptr) PyErr_Clear();
  return Reference::steal(value);
}

/// The C long in `value`, or `otherwise` where it is none.
inline long long as_integer(const Reference& value, long long otherwise) {
  if (!value || !PyLong_Check(value.get())) return otherwise;
  const long long number = PyLong_AsLongLong(value.get());
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return otherwise;
  }
  return number;
}

}  // namespace xleak::facts
