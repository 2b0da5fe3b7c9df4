#include "known_types.hpp"

#include <algorithm>

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

std::int64_t text_bytes(PyObject* text) {
  const auto length = static_cast<std::int64_t>(PyUnicode_GET_LENGTH(text));
  if (PyUnicode_IS_ASCII(text)) return sizeof(PyASCIIObject) + length + 1;
  return sizeof(PyCompactUnicodeObject) + (length + 1) * PyUnicode_KIND(text);
}

}  // namespace

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

std::int64_t owned_array_bytes(PyObject* array) {
  if (!reinterpret_cast<ArrayFields*>(array)->owns_data()) return 0;
  return as_integer(read_descriptor(type_of_ndarray(), "nbytes", array), 0);
}

KnownTypes::KnownTypes() {
  bases_ = {{&PyType_Type, Kind::barrier}, {&PyModule_Type, Kind::barrier},
            {&PyCode_Type, Kind::barrier}, {&PyUnicode_Type, Kind::text},
            {&PyList_Type, Kind::list},    {&PyDict_Type, Kind::dict},
            {&PySet_Type, Kind::sized},    {&PyFrozenSet_Type, Kind::sized},
            {&PyLong_Type, Kind::sized},   {&PyByteArray_Type, Kind::sized},
            {&PyFrame_Type, Kind::frame},  {&PyGen_Type, Kind::sized},
            {&PyCoro_Type, Kind::sized}};
  const struct {
    const char* module;
    const char* name;
    Kind kind;
  } imported[] = {{"collections", "deque", Kind::sized},
                  {"array", "array", Kind::sized},
                  {"io", "BytesIO", Kind::sized},
                  {"numpy", "ndarray", Kind::ndarray},
                  {"torch._C", "TensorBase", Kind::tensor},
                  {"torch._C", "StorageBase", Kind::storage},
                  {"pyarrow.lib", "ChunkedArray", Kind::arrow},
                  {"pyarrow.lib", "Array", Kind::arrow},
                  {"pyarrow.lib", "Table", Kind::arrow},
                  {"pyarrow.lib", "RecordBatch", Kind::arrow},
                  {"pyarrow.lib", "Buffer", Kind::arrow},
                  {"polars._plr", "PyDataFrame", Kind::polars},
                  {"polars._plr", "PySeries", Kind::polars}};
  for (const auto& known : imported) {
    if (auto* type = imported_type(known.module, known.name)) bases_.push_back({type, known.kind});
  }
}

Kind KnownTypes::kind_of(PyTypeObject* type) {
  const auto found = kinds_.find(type);
  if (found != kinds_.end()) return found->second;
  const Kind kind = find_kind(type);
  kinds_.emplace(type, kind);
  return kind;
}

Kind KnownTypes::find_kind(PyTypeObject* type) const {
  for (const Base& base : bases_) {
    if (PyType_IsSubtype(type, base.type)) return base.kind;
  }
  return Kind::plain;
}

std::int64_t KnownTypes::size_by_base(PyObject* object) const {
  for (const Base& base : bases_) {
    if (!PyType_IsSubtype(Py_TYPE(object), base.type)) continue;
    return as_integer(call_descriptor(base.type, "__sizeof__", object), base.type->tp_basicsize);
  }
  return Py_TYPE(object)->tp_basicsize;
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
      bytes.add_block(std::max<std::int64_t>(0, size_by_base(object) - type->tp_basicsize));
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
