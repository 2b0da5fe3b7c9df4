#include "torch_facts.hpp"

#include <cstdio>
#include <string_view>

#include "known_types.hpp"

namespace xleak::facts {
namespace {

PyObject* module_value(const char* module, const char* name) {
  PyObject* found = PyDict_GetItemString(PyImport_GetModuleDict(), module);
  if (found == nullptr || !PyModule_Check(found)) return nullptr;
  return PyDict_GetItemString(PyModule_GetDict(found), name);
}

/// From torch 2.10 on, C++ owners of a tensor together own one reference to its Python object.
bool cpp_owns_python_object() {
  PyObject* version = module_value("torch.version", "__version__");
  int major = 0;
  int minor = 0;
  if (version == nullptr || !PyUnicode_Check(version)) return false;
  const char* text = PyUnicode_AsUTF8(version);
  if (text == nullptr || std::sscanf(text, "%d.%d", &major, &minor) != 2) return false;
  return major > 2 || (major == 2 && minor >= 10);
}

}  // namespace

TorchFacts::~TorchFacts() {
  if (!guard_) return;
  const Reference left = Reference::steal(
      PyObject_CallMethod(guard_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (!left) PyErr_Clear();
}

PyTypeObject* TorchFacts::tensor_base() {
  if (tensor_base_ != nullptr) return tensor_base_;
  auto* type = imported_type("torch._C", "TensorBase");
  auto* guard = imported_type("torch._C", "DisableTorchFunction");
  if (type == nullptr || guard == nullptr) return nullptr;
  Reference entered = Reference::steal(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(guard)));
  if (entered) {
    const Reference done =
        Reference::steal(PyObject_CallMethod(entered.get(), "__enter__", nullptr));
    if (done) guard_ = std::move(entered);
  }
  if (!guard_) PyErr_Clear();
  if (!guard_) return nullptr;
  storage_base_ = imported_type("torch._C", "StorageBase");
  use_count_ = module_value("torch._C", "_storage_Use_Count");
  counts_cpp_once_ = cpp_owns_python_object();
  return tensor_base_ = type;
}

Reference TorchFacts::base_of(PyObject* tensor) {
  if (tensor_base() == nullptr) return {};
  return read_descriptor(tensor_base_, "_base", tensor);
}

Reference TorchFacts::gradient_of(PyObject* tensor) {
  if (tensor_base() == nullptr) return {};
  // Torch warns when the gradient of another tensor than a leaf is read.
  const Reference leaf = read_descriptor(tensor_base_, "is_leaf", tensor);
  if (leaf.get() != Py_True) return {};
  return read_descriptor(tensor_base_, "grad", tensor);
}

bool TorchFacts::has_graph(PyObject* tensor) {
  if (tensor_base() == nullptr) return true;
  const Reference node = read_descriptor(tensor_base_, "grad_fn", tensor);
  return node.get() != Py_None;
}

long TorchFacts::references_from_cpp(PyObject* tensor) {
  if (tensor_base() == nullptr) return 0;
  const auto owners = as_integer(call_descriptor(tensor_base_, "_use_count", tensor), 1);
  return static_cast<long>(owners - 1 - (owners > 1 && counts_cpp_once_ ? 1 : 0));
}

bool TorchFacts::requires_gradient(PyObject* tensor) {
  if (tensor_base() == nullptr) return true;
  return read_descriptor(tensor_base_, "requires_grad", tensor).get() != Py_False;
}

std::int64_t TorchFacts::shown_bytes(PyObject* tensor) {
  if (tensor_base() == nullptr) return 0;
  return as_integer(read_descriptor(tensor_base_, "nbytes", tensor), 0);
}

std::optional<StorageFacts> TorchFacts::storage_of(PyObject* tensor) {
  if (tensor_base() == nullptr) return std::nullopt;
  const Reference storage = call_descriptor(tensor_base_, "untyped_storage", tensor);
  if (!storage) return std::nullopt;
  auto facts = describe(storage.get());
  // Beside our own reference torch keeps one, as it does for tensors.
  if (facts) facts->named = Py_REFCNT(storage.get()) > (counts_cpp_once_ ? 2 : 1);
  return facts;
}

std::optional<StorageFacts> TorchFacts::describe(PyObject* storage) {
  if (tensor_base() == nullptr || storage_base_ == nullptr || use_count_ == nullptr)
    return std::nullopt;
  const Reference device = read_descriptor(storage_base_, "device", storage);
  const Reference name = Reference::steal(device ? PyObject_Str(device.get()) : nullptr);
  const char* device_name = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (device_name == nullptr) PyErr_Clear();
  // Meta and fake tensors have no memory, and torch warns when the latter are asked for its
  // address.
  if (device_name == nullptr || std::string_view(device_name) == "meta") return std::nullopt;
  const Reference key = read_descriptor(storage_base_, "_cdata", storage);
  const Reference address = call_descriptor(storage_base_, "data_ptr", storage);
  if (!key || !address) return std::nullopt;
  const Reference users = Reference::steal(PyObject_CallOneArg(use_count_, key.get()));
  if (!users) {
    PyErr_Clear();
    return std::nullopt;
  }
  StorageFacts facts;
  facts.key = as_integer(key, 0);
  facts.address = as_integer(address, 0);
  facts.bytes = as_integer(call_descriptor(storage_base_, "nbytes", storage), 0);
  // The Python storage object is one of the users.
  facts.users = static_cast<long>(as_integer(users, 1)) - 1;
  const Reference resizable = call_descriptor(storage_base_, "resizable", storage);
  facts.foreign = resizable.get() != Py_True;
  facts.in_malloc = call_descriptor(storage_base_, "is_shared", storage).get() == Py_False;
  facts.device = device_name;
  return facts;
}

}  // namespace xleak::facts
