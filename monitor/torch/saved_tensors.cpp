#include "saved_tensors.hpp"

#include <c10/util/Type.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>

namespace xleak::libtorch {
namespace {

using torch::autograd::SavedVariable;

// unpack() would call the user's hooks, and raise for a tensor that was changed since. Torch 2.4
// has no public way to the field; an explicit instantiation may name a private member.
template <typename Tag, typename Tag::Member member>
struct Reveal {
  friend constexpr typename Tag::Member reveal(Tag) { return member; }
};
struct DataOf {
  using Member = at::Tensor SavedVariable::*;
  friend constexpr Member reveal(DataOf);
};
struct HooksOf {
  using Member = std::unique_ptr<torch::autograd::SavedVariableHooks> SavedVariable::*;
  friend constexpr Member reveal(HooksOf);
};
struct EmptyOf {
  using Member = bool SavedVariable::*;
  friend constexpr Member reveal(EmptyOf);
};
template struct Reveal<EmptyOf, &SavedVariable::was_default_constructed_>;
template struct Reveal<DataOf, &SavedVariable::data_>;
template struct Reveal<HooksOf, &SavedVariable::hooks_>;

void note(const SavedVariable& saved, SavedByNode& found) {
  const at::Tensor& data = saved.*reveal(DataOf{});
  if (data.defined()) found.tensors.push_back(data);
  const bool is_packed = static_cast<bool>(saved.*reveal(HooksOf{}));
  found.packed += is_packed ? 1 : 0;
  const bool was_saved = !(saved.*reveal(EmptyOf{}));
  found.released += was_saved && !is_packed && !data.defined() ? 1 : 0;
}

void note(const py::handle& value, SavedByNode& found) {
  if (PyTuple_CheckExact(value.ptr())) {
    for (const py::handle item : py::reinterpret_borrow<py::tuple>(value)) note(item, found);
  } else if (py::isinstance<SavedVariable>(value)) {
    note(py::cast<const SavedVariable&>(value), found);
  }
}

// Torch generates one `_raw_saved_*` property for each field of a node; to read one unpacks
// nothing. The properties look at `cdata` alone, so they are asked on an object of our own.
void note_fields(PyTypeObject* type, const NodePointer& node, SavedByNode& found) {
  constexpr std::string_view kPrefix = "_raw_saved_";
  torch::autograd::THPCppFunction self{};
  Py_SET_TYPE(reinterpret_cast<PyObject*>(&self), type);
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&self), 1);
  self.cdata = node;
  for (const PyGetSetDef* property = type->tp_getset;
       property != nullptr && property->name != nullptr; ++property) {
    if (std::string_view(property->name).substr(0, kPrefix.size()) != kPrefix) continue;
    const py::object value = py::reinterpret_steal<py::object>(
        property->get(reinterpret_cast<PyObject*>(&self), property->closure));
    // A list that was released raises; it keeps nothing.
    if (!value) PyErr_Clear();
    if (value) note(value, found);
  }
}

PyObject* item(PyObject* module, const char* name) {
  if (module == nullptr || !PyModule_Check(module)) return nullptr;
  return PyDict_GetItemString(PyModule_GetDict(module), name);
}

PyTypeObject* generated_type(const std::string& name) {
  PyObject* torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._C");
  PyObject* type = item(item(torch, "_functions"), name.c_str());
  return type != nullptr && PyType_Check(type) ? reinterpret_cast<PyTypeObject*>(type) : nullptr;
}

/// How the fields of one C++ type of node are read.
struct Kind {
  enum { generated, python, empty, opaque } fields = opaque;
  PyTypeObject* type = nullptr;
};

Kind kind_of(const std::type_info& type) {
  const std::string name = c10::demangle(type.name());
  const auto starts_with = [&name](const std::string& prefix) {
    return name.compare(0, prefix.size(), prefix) == 0;
  };
  const std::string generated = "torch::autograd::generated::";
  if (name == "torch::autograd::PyNode") return {Kind::python, nullptr};
  if (starts_with("torch::autograd::CppNode<")) return {Kind::opaque, nullptr};
  if (starts_with(generated)) {
    PyTypeObject* found = generated_type(name.substr(generated.size()));
    return found != nullptr ? Kind{Kind::generated, found} : Kind{Kind::opaque, nullptr};
  }
  return {starts_with("torch::autograd::") ? Kind::empty : Kind::opaque, nullptr};
}

const Kind& known_kind_of(const Node& node) {
  static auto* const kinds =
      std::make_unique<std::unordered_map<std::type_index, Kind>>().release();
  const std::type_info& type = typeid(node);
  const auto known = kinds->find(type);
  if (known != kinds->end()) return known->second;
  return kinds->emplace(type, kind_of(type)).first->second;
}

void note_python_function(const NodePointer& node, SavedByNode& found) {
  // It has its object already: the context that forward() was called with.
  const py::object context =
      py::reinterpret_steal<py::object>(torch::autograd::functionToPyObject(node));
  if (!context || !PyObject_TypeCheck(context.ptr(), &THPFunctionType)) {
    PyErr_Clear();
    return;
  }
  found.context = reinterpret_cast<std::uintptr_t>(context.ptr());
  for (const SavedVariable& saved :
       reinterpret_cast<THPFunction*>(context.ptr())->saved_variables) {
    note(saved, found);
  }
}

}  // namespace

SavedByNode saved_by(const NodePointer& node) {
  SavedByNode found;
  const Kind& kind = known_kind_of(*node);
  if (kind.fields == Kind::generated) note_fields(kind.type, node, found);
  if (kind.fields == Kind::python) note_python_function(node, found);
  found.opaque = kind.fields == Kind::opaque;
  return found;
}

}  // namespace xleak::libtorch
