#pragma once
#include <Python.h>

#include <array>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <utility>
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
  table,  ///< Of pandas: its numbers are what it shows.
  ndarray,
  tensor,
  storage,
  window,  ///< Python's own memoryview.
  map,     ///< Of the module mmap.
  arrow,
  polars,
  eager,  ///< A tensor of TensorFlow's.
};

/// Knows types by their pointer. Asks no object and imports nothing.
class KnownTypes {
 public:
  /// Looks for the libraries that have been imported since. `memory`: for what it comes to know.
  explicit KnownTypes(std::pmr::memory_resource* memory = std::pmr::get_default_resource());
  KnownTypes(const KnownTypes&) = delete;
  KnownTypes& operator=(const KnownTypes&) = delete;

  Kind kind_of(PyTypeObject* type) { return known(type).base->kind; }

  /// How many bytes of an instance an extension module lays out, which may point to memory that the
  /// instance shows by no interface; 0 where Python itself or NumPy knows them.
  std::size_t native_bytes(PyTypeObject* type) { return known(type).native_bytes; }

  /// Adds what `object` itself takes, without what it refers to.
  void add_own_bytes(PyObject* object, Kind kind, PythonBytes& bytes);

 private:
  struct Base {
    PyTypeObject* type;
    Kind kind;
    PyCFunction size_of;  ///< Its own __sizeof__, where it is written in C and takes nothing.
  };
  struct Known {
    const Base* base;
    std::size_t native_bytes;
  };
  const Known& known(PyTypeObject* type);
  const Base& find_base(PyTypeObject* type) const;
  std::size_t find_native_bytes(PyTypeObject* type, Kind kind) const;

  std::vector<Base> bases_;
  std::pmr::unordered_map<PyTypeObject*, Known> known_;
  /// The answers of the last types, by address: a heap has few types and many objects of each.
  std::array<std::pair<PyTypeObject*, const Known*>, 64> latest_{};
};

/// A type that a module which has been imported holds under `name`, or null.
PyTypeObject* imported_type(const char* module, const char* name);

/// Whether `dict` is the namespace of an imported module.
bool is_module_dict(PyObject* dict);

/// Whether an object is a class that was defined in the notebook itself.
bool is_users_class(PyObject* object);

/// Whether an object is a function that was defined elsewhere, or the cache around one.
bool is_librarys_function(PyObject* object);

/// Whether an object is a function that was defined in the notebook, or of a class that was.
bool is_of_users_code(PyObject* object);

/// Whether an object is a coroutine of the notebook's own, which goes on later.
bool is_users_coroutine(PyObject* object);

/// Whether what an object refers to is what it shows: a container's elements.
bool is_container(PyObject* object, Kind kind);

/// Where the memory of a large built-in object begins that it does not have in itself: the items of
/// a list, the table of a dictionary, the numbers of an array; the object's own address for others.
std::uintptr_t start_of_memory(PyObject* object, Kind kind);

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

/// What the module mmap has in front of what its versions differ in.
struct MapFields {
  PyObject_HEAD char* data;
  Py_ssize_t size;
  Py_ssize_t position;
  off_t offset;
  Py_ssize_t exports;
  int file;  ///< -1 where there is none.
};

/// What an exact text takes.
std::int64_t text_bytes(PyObject* text);

/// Bytes of the buffer that an array owns; 0 for a view.
std::int64_t owned_array_bytes(PyObject* array);

/// Bytes of what an array shows, its own or another's.
std::int64_t shown_bytes(PyObject* array);

}  // namespace xleak::facts
