#include "known_types.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "python_versions.hpp"
#include "reference.hpp"

namespace xleak::facts {
namespace {

// Two pointers before every object that the garbage collector watches.
constexpr std::int64_t kCollectorHead = 2 * sizeof(void*);

PyTypeObject* type_of_ndarray() {
  static PyTypeObject* type = nullptr;
  if (type == nullptr) type = imported_type("numpy", "ndarray");
  return type;
}

PyObject* size_of_text_stream(PyObject* stream, PyObject* /*none*/) {
  return PyLong_FromLongLong(Py_TYPE(stream)->tp_basicsize + text_of_stream(stream).bytes);
}

PyCFunction own_sizeof(PyTypeObject* type) {
  if (type == imported_type("io", "StringIO")) return size_of_text_stream;
  PyObject* found = PyDict_GetItemString(dict_of_type(type), "__sizeof__");
  if (found == nullptr || !Py_IS_TYPE(found, &PyMethodDescr_Type)) return nullptr;
  const PyMethodDef* method = reinterpret_cast<PyMethodDescrObject*>(found)->d_method;
  return method->ml_flags == METH_NOARGS ? method->ml_meth : nullptr;
}

/// What stands as a module's name in the dictionary of a class or a function; may be null.
PyObject* module_in(PyObject* dict) {
  static PyObject* const key = PyUnicode_InternFromString("__module__");
  if (dict == nullptr || key == nullptr) return nullptr;
  PyObject* module = PyDict_GetItemWithError(dict, key);
  if (module == nullptr) PyErr_Clear();
  return module;
}

bool is_of_the_notebook(PyObject* module) {
  return module != nullptr && PyUnicode_CheckExact(module) &&
         PyUnicode_CompareWithASCIIString(module, "__main__") == 0;
}

/// How Python lets go of an instance of a class that was written in Python. The first call makes
/// objects.
destructor release_of_classes() {
  static const destructor known = [] {
    const Reference type = Reference::steal(PyErr_NewException("xleak.Layout", nullptr, nullptr));
    if (!type) PyErr_Clear();
    return type ? reinterpret_cast<PyTypeObject*>(type.get())->tp_dealloc : nullptr;
  }();
  return known;
}

/// Whether code of the interpreter, of an extension of the standard library, or of xleak lets go of
/// an instance.
bool is_known(const PyTypeObject* type) {
  Dl_info its{}, python{}, own{};
  if (::dladdr(reinterpret_cast<const void*>(type->tp_dealloc), &its) == 0) return true;
  if (::dladdr(&PyType_Type, &python) == 0 || its.dli_fbase == python.dli_fbase) return true;
  // What a snapshot knows are addresses of blocks.
  static const char kHere = 0;
  if (::dladdr(&kHere, &own) == 0 || its.dli_fbase == own.dli_fbase) return true;
  return std::string_view(its.dli_fname).find("/lib-dynload/") != std::string_view::npos;
}

std::int64_t size_told(PyCFunction size_of, PyObject* object) {
  if (size_of == nullptr) return 0;
  const Reference told = Reference::steal(size_of(object, nullptr));
  if (!told) PyErr_Clear();
  return as_integer(told, 0);
}

}  // namespace

std::int64_t text_bytes(PyObject* text) {
  const auto length = static_cast<std::int64_t>(PyUnicode_GET_LENGTH(text));
  if (PyUnicode_IS_ASCII(text)) return sizeof(PyASCIIObject) + length + 1;
  return sizeof(PyCompactUnicodeObject) + (length + 1) * PyUnicode_KIND(text);
}

PyTypeObject* imported_type(const char* module, const char* name) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* found = modules == nullptr ? nullptr : PyDict_GetItemString(modules, module);
  if (found == nullptr || !PyModule_Check(found)) return nullptr;
  PyObject* type = PyDict_GetItemString(PyModule_GetDict(found), name);
  return type != nullptr && PyType_Check(type) ? reinterpret_cast<PyTypeObject*>(type) : nullptr;
}

bool ArrayFields::holds_objects() const {
  // PyArray_Descr starts with the scalar type and the kind's letter in every version.
  struct DtypeFields {
    PyObject_HEAD PyTypeObject* scalar;
    char kind;
  };
  return reinterpret_cast<const DtypeFields*>(dtype)->kind == 'O';
}

std::int64_t ArrayFields::item_count() const {
  std::int64_t count = 1;
  for (int i = 0; i < dimensions; ++i) count *= shape[i];
  return count;
}

// It begins with the module's name, and sys.modules knows the module.
bool is_module_dict(PyObject* dict) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  if (!PyDict_CheckExact(dict) || !PyDict_Next(dict, &position, &key, &value)) return false;
  if (!PyUnicode_CheckExact(key) || PyUnicode_CompareWithASCIIString(key, "__name__") != 0)
    return false;
  if (!PyUnicode_CheckExact(value)) return false;
  PyObject* module = PyDict_GetItemWithError(PyImport_GetModuleDict(), value);
  return module != nullptr && PyModule_Check(module) && PyModule_GetDict(module) == dict;
}

bool is_users_class(PyObject* object) {
  return PyType_Check(object) &&
         is_of_the_notebook(module_in(dict_of_type(reinterpret_cast<PyTypeObject*>(object))));
}

bool is_librarys_function(PyObject* object) {
  static PyTypeObject* const cache = imported_type("functools", "_lru_cache_wrapper");
  if (PyFunction_Check(object)) return !is_of_the_notebook(PyFunction_GET_MODULE(object));
  if (cache == nullptr || !Py_IS_TYPE(object, cache)) return false;
  PyObject** dict = _PyObject_GetDictPtr(object);
  return dict != nullptr && !is_of_the_notebook(module_in(*dict));
}

bool is_of_users_code(PyObject* object) {
  if (PyFunction_Check(object)) return !is_librarys_function(object);
  return is_users_class(reinterpret_cast<PyObject*>(Py_TYPE(object)));
}

bool is_users_coroutine(PyObject* object) {
  if (!PyCoro_CheckExact(object)) return false;
  const Reference frame = Reference::steal(PyObject_GetAttrString(object, "cr_frame"));
  if (!frame) PyErr_Clear();
  if (!frame || !PyFrame_Check(frame.get())) return false;
  const Reference names = globals_of(reinterpret_cast<PyFrameObject*>(frame.get()));
  return names && is_of_the_notebook(PyDict_GetItemString(names.get(), "__name__"));
}

bool is_container(PyObject* object, Kind kind) {
  return kind == Kind::list || kind == Kind::dict || PyTuple_Check(object) ||
         (kind == Kind::sized && !PyGen_Check(object) && !PyCoro_CheckExact(object));
}

std::uintptr_t start_of_memory(PyObject* object, Kind kind) {
  // Both keep what they point to as their first field.
  PyTypeObject* array = imported_type("array", "array");
  PyTypeObject* stream = imported_type("_io", "BytesIO");
  PyTypeObject* text_stream = imported_type("_io", "StringIO");
  struct Pointing {
    PyVarObject head;
    const void* items;
  };
  struct PointingOnce {
    PyObject head;
    const void* bytes;
  };
  const void* start = object;
  if (kind == Kind::list) {
    start = reinterpret_cast<PyListObject*>(object)->ob_item;
  } else if (kind == Kind::dict) {
    start = reinterpret_cast<PyDictObject*>(object)->ma_keys;
  } else if (kind == Kind::ndarray) {
    start = reinterpret_cast<ArrayFields*>(object)->data;
  } else if (PyAnySet_Check(object)) {
    start = reinterpret_cast<PySetObject*>(object)->table;
  } else if (PyByteArray_Check(object)) {
    start = PyByteArray_AS_STRING(object);
  } else if (PyUnicode_Check(object) && !PyUnicode_CheckExact(object)) {
    start = PyUnicode_DATA(object);
  } else if (array != nullptr && PyObject_TypeCheck(object, array)) {
    start = reinterpret_cast<Pointing*>(object)->items;
  } else if (stream != nullptr && PyObject_TypeCheck(object, stream)) {
    start = reinterpret_cast<PointingOnce*>(object)->bytes;
  } else if (text_stream != nullptr && PyObject_TypeCheck(object, text_stream)) {
    start = text_of_stream(object).start;
  }
  return reinterpret_cast<std::uintptr_t>(start);
}

std::int64_t owned_array_bytes(PyObject* array) {
  return reinterpret_cast<ArrayFields*>(array)->owns_data() ? shown_bytes(array) : 0;
}

std::int64_t shown_bytes(PyObject* array) {
  return as_integer(read_descriptor(type_of_ndarray(), "nbytes", array), 0);
}

KnownTypes::KnownTypes(std::pmr::memory_resource* memory) : known_(memory) {
  // Types are looked up while the collector's own functions run, which must make nothing.
  release_of_classes();
  const auto add = [this](PyTypeObject* type, Kind kind) {
    bases_.push_back({type, kind, own_sizeof(type)});
  };
  for (PyTypeObject* shared : {&PyType_Type, &PyModule_Type, &PyCode_Type})
    add(shared, Kind::barrier);
  add(&PyUnicode_Type, Kind::text);
  add(&PyList_Type, Kind::list);
  add(&PyDict_Type, Kind::dict);
  add(&PyFrame_Type, Kind::frame);
  add(&PyMemoryView_Type, Kind::window);
  for (PyTypeObject* sized :
       {&PySet_Type, &PyFrozenSet_Type, &PyLong_Type, &PyByteArray_Type, &PyGen_Type, &PyCoro_Type})
    add(sized, Kind::sized);
  const struct {
    const char* module;
    const char* name;
    Kind kind;
  } imported[] = {{"collections", "deque", Kind::sized},
                  {"array", "array", Kind::sized},
                  {"io", "BytesIO", Kind::sized},
                  {"io", "StringIO", Kind::sized},
                  {"mmap", "mmap", Kind::map},
                  {"pandas", "DataFrame", Kind::table},
                  {"pandas", "Series", Kind::table},
                  {"pandas", "Index", Kind::table},
                  {"polars", "DataFrame", Kind::table},
                  {"polars", "Series", Kind::table},
                  {"numpy", "ndarray", Kind::ndarray},
                  {"torch._C", "TensorBase", Kind::tensor},
                  {"torch._C", "StorageBase", Kind::storage},
                  {"pyarrow.lib", "ChunkedArray", Kind::arrow},
                  {"pyarrow.lib", "Array", Kind::arrow},
                  {"pyarrow.lib", "Table", Kind::arrow},
                  {"pyarrow.lib", "RecordBatch", Kind::arrow},
                  {"pyarrow.lib", "Buffer", Kind::arrow},
                  {"polars._plr", "PyDataFrame", Kind::polars},
                  {"polars._plr", "PySeries", Kind::polars},
                  {"tensorflow.python.framework.ops", "EagerTensor", Kind::eager}};
  for (const auto& known : imported) {
    if (auto* type = imported_type(known.module, known.name)) add(type, known.kind);
  }
  add(&PyBaseObject_Type, Kind::plain);
}

const KnownTypes::Known& KnownTypes::known(PyTypeObject* type) {
  auto& latest = latest_[(reinterpret_cast<std::uintptr_t>(type) >> 4) % latest_.size()];
  if (latest.first == type) return *latest.second;
  const auto [known, is_new] = known_.emplace(type, Known{nullptr, 0});
  if (is_new) {
    const Base& base = find_base(type);
    known->second = {&base, find_native_bytes(type, base.kind)};
  }
  latest = {type, &known->second};
  return known->second;
}

const KnownTypes::Base& KnownTypes::find_base(PyTypeObject* type) const {
  // The last one is the base of all.
  for (const Base& base : bases_) {
    if (PyType_IsSubtype(type, base.type)) return base;
  }
  return bases_.back();
}

std::size_t KnownTypes::find_native_bytes(PyTypeObject* type, Kind kind) const {
  PyTypeObject* number = imported_type("numpy", "generic");
  if (kind != Kind::plain || (number != nullptr && PyType_IsSubtype(type, number) != 0)) return 0;
  // What a class in Python adds are references, which the collector sees.
  while (type->tp_base != nullptr && type->tp_dealloc == release_of_classes()) type = type->tp_base;
  return is_known(type) ? 0 : static_cast<std::size_t>(type->tp_basicsize);
}

void KnownTypes::add_own_bytes(PyObject* object, Kind kind, PythonBytes& bytes) {
  const PyTypeObject* type = Py_TYPE(object);
  std::int64_t head = type->tp_basicsize;
  if (PyType_IS_GC(Py_TYPE(object))) head += kCollectorHead;
  switch (kind) {
    case Kind::text:
      return bytes.add_block(text_bytes(object));
    case Kind::list:
      bytes.add_block(reinterpret_cast<PyListObject*>(object)->allocated * sizeof(PyObject*));
      return bytes.add_block(head);
    case Kind::dict:
    case Kind::sized:
      // The commonest of them; its own __sizeof__ says the same.
      if (PyLong_CheckExact(object)) {
        const auto digits = std::max<Py_ssize_t>(1, digits_of(object));
        return bytes.add_block(type->tp_basicsize + type->tp_itemsize * digits);
      }
      bytes.add_block(std::max<std::int64_t>(
          0, size_told(known(Py_TYPE(object)).base->size_of, object) - type->tp_basicsize));
      return bytes.add_block(head);
    case Kind::ndarray:
      bytes.malloc_bytes += owned_array_bytes(object);
      return bytes.add_block(head);
    default:
      // Other types set tp_itemsize without counting items in ob_size.
      if (PyTuple_Check(object) || PyBytes_Check(object))
        head += type->tp_itemsize * Py_SIZE(object);
      return bytes.add_block(head);
  }
}

}  // namespace xleak::facts
