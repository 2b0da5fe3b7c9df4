#pragma once
#include <Python.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storages.hpp"

namespace xleak::libtorch {

/// A storage that live tensors of Python reach, with the largest of them as its example.
struct StorageRow {
  StorageFacts storage;
  std::vector<std::uintptr_t> tensors;  ///< id() of each tensor object; none: only a gradient.
  /// Of each of these "contiguous", "channels last" or "strided"; empty where it is not known.
  std::vector<std::string> layouts;
  std::string dtype;  ///< "Float", "Half", "Long" …
  std::vector<std::int64_t> shape;
  bool requires_grad = false;  ///< Of any of them.
  bool is_gradient = false;    ///< Some tensor's .grad.
  std::optional<std::string> grad_fn;
};

/// Whether an object is a tensor. Runs no code of its class.
bool is_tensor(PyObject* object);

/// Calls for every live tensor that the collector knows. Needs the GIL; `visit` may run no Python.
void for_each_tensor(const std::function<void(PyObject*, const at::Tensor&)>& visit);

/// Every live tensor that Python's collector knows, by storage: views are counted once. Needs the
/// GIL. Reads type pointers and C++ fields only.
std::vector<StorageRow> census();

/// Counts the storages of all live tensors that were allocated before the allocator was installed,
/// as those of this cell. Returns how many. Needs the GIL.
std::size_t adopt_older(int cell);

}  // namespace xleak::libtorch
