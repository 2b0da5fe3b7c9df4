#pragma once
#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>

#include "reference.hpp"

namespace xleak::facts {

/// The memory behind tensors, as torch describes it.
struct StorageFacts {
  std::int64_t key = 0;  ///< Address of torch's StorageImpl.
  std::int64_t bytes = 0;
  long users = 0;         ///< Tensors and saved tensors, C++ ones included.
  bool foreign = false;   ///< Torch did not allocate it (from_numpy, shared memory).
  bool in_malloc = true;  ///< Not in memory that processes share.
  bool named = false;     ///< A Python storage object of the user's keeps it.
  std::int64_t address = 0;
  std::string device;
};

/// Asks torch._C's own descriptors. While one lives, no __torch_function__ is called. Without torch
/// every answer is empty.
class TorchFacts {
 public:
  TorchFacts() = default;
  ~TorchFacts();
  TorchFacts(const TorchFacts&) = delete;
  TorchFacts& operator=(const TorchFacts&) = delete;

  /// The tensor that a view was made of; the view keeps it in C++.
  Reference base_of(PyObject* tensor);
  Reference gradient_of(PyObject* tensor);
  bool has_graph(PyObject* tensor);
  /// What C++ holds, less the reference to the Python object that torch keeps for it.
  long references_from_cpp(PyObject* tensor);
  bool requires_gradient(PyObject* tensor);
  /// Bytes of the elements that it shows.
  std::int64_t shown_bytes(PyObject* tensor);
  /// Empty for tensors without one storage (sparse, wrappers, fake).
  std::optional<StorageFacts> storage_of(PyObject* tensor);
  /// For a Python storage object.
  std::optional<StorageFacts> describe(PyObject* storage);

 private:
  PyTypeObject* tensor_base();
  PyTypeObject* tensor_base_ = nullptr;
  PyTypeObject* storage_base_ = nullptr;
  PyObject* use_count_ = nullptr;
  bool counts_cpp_once_ = false;
  Reference guard_;
};

}  // namespace xleak::facts
