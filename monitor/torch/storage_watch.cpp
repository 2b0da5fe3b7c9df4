#include "storage_watch.hpp"

#include <torch/csrc/autograd/python_variable.h>

#include <stdexcept>

#include "census.hpp"
#include "storages.hpp"

namespace xleak::libtorch {
namespace {

using Owner = c10::intrusive_ptr<c10::StorageImpl>;

}  // namespace

void StorageWatch::follow(c10::StorageImpl* storage) {
  storages_.emplace_back(Owner::unsafe_reclaim_from_nonowning(storage));
}

std::map<std::uintptr_t, std::int64_t> StorageWatch::alive() const {
  std::map<std::uintptr_t, std::int64_t> bytes;
  for (const auto& storage : storages_) {
    const Owner owner = storage.lock();
    const auto facts = owner ? describe(*owner) : std::nullopt;
    if (facts) bytes[facts->key] = facts->bytes;
  }
  return bytes;
}

StorageWatch watch_storages(PyObject* tensor) {
  if (!is_tensor(tensor)) throw std::invalid_argument("watch() takes a tensor");
  StorageWatch watch;
  for (c10::StorageImpl* storage : storages_of(THPVariable_Unpack(tensor))) watch.follow(storage);
  return watch;
}

}  // namespace xleak::libtorch
