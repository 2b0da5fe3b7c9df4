#pragma once
#include <Python.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "bytes.hpp"

namespace xleak::facts {

/// How an object is read. What is not known is `plain`: tp_traverse and its basic size.
enum class Kind : std::uint8_t {
  barrier,  ///< Types, modules and code: shared by design, never followed.
  plain,
  text,
  list,
  sized,  ///< Built-in types whose own __sizeof__ tells what tp_basicsize does not.
  dict,
  frame,
  ndarray,
  tensor,
  storage,
  arrow,
  polars,
};

/// Knows types by their pointer. Asks no object and imports nothing.
class KnownTypes {
 public:
  /// Looks for the libraries that have been imported since.
  KnownTypes();
  Kind kind_of(PyTypeObject* type);

  /// Adds what `object` itself takes, without what it refers to.
  void add_own_bytes(PyObject* object, Kind kind, PythonBytes& bytes);

 private:
  struct Base {
    PyTypeObject* type;
    Kind kind;
  };
  Kind find_kind(PyTypeObject* type) const;
  std::int64_t size_by_base(PyObject* object) const;

  std::vector<Base> bases_;
  std::unordered_map<PyTypeObject*, Kind> kinds_;
};

/// A type that a module which has been imported holds under `name`, or null.
PyTypeObject* imported_type(const char* module, const char* name);

/// What numpy's C interface fixes of an array (PyArrayObject_fields, the same in numpy 1 and 2).
struct ArrayFields {
  PyObject_HEAD char* data;
  int dimensions;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
  bool owns_data() const { return (flags & 0x4) != 0 && base == nullptr; }
  bool holds_objects() const;
  std::int64_t item_count() const;
};

/// Bytes of the buffer that an array owns; 0 for a view.
std::int64_t owned_array_bytes(PyObject* array);

}  // namespace xleak::facts
