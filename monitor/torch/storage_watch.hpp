#pragma once
#include <Python.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <map>
#include <vector>

namespace xleak::libtorch {

/// Follows storages by weak references: their memory goes when it would go without this. No other
/// storage has the key of one that is followed.
class StorageWatch {
 public:
  void follow(c10::StorageImpl* storage);
  /// Those that still have their memory: by key, its bytes.
  std::map<std::uintptr_t, std::int64_t> alive() const;

 private:
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages_;
};

/// Follows the storages of a tensor. Needs the GIL. Throws std::invalid_argument for another
/// object.
StorageWatch watch_storages(PyObject* tensor);

}  // namespace xleak::libtorch
