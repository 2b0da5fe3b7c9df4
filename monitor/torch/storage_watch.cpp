#include "storage_watch.hpp"

#include <torch/csrc/autograd/python_variable.h>

#include <stdexcept>

#include "census.hpp"
#include "graph_walk.hpp"
#include "storages.hpp"

namespace xleak::libtorch {
namespace {

using Owner = c10::intrusive_ptr<c10::StorageImpl>;

}  // namespace

void StorageWatch::follow(c10::StorageImpl* storage) {
  storages_.emplace_back(Owner::unsafe_reclaim_from_nonowning(storage));
}

std::vector<std::uintptr_t> StorageWatch::alive() const {
  std::vector<std::uintptr_t> keys;
  for (const auto& storage : storages_) {
    if (const Owner owner = storage.lock())
      keys.push_back(reinterpret_cast<std::uintptr_t>(owner.get()));
  }
  return keys;
}

StorageWatch watch_storages(PyObject* tensor, bool saved) {
  if (!is_tensor(tensor)) throw std::invalid_argument("watch() takes a tensor");
  StorageWatch watch;
  std::unordered_set<c10::StorageImpl*> known;
  const auto follow = [&](const at::Tensor& shown) {
    for (c10::StorageImpl* storage : storages_of(shown)) {
      if (known.insert(storage).second) watch.follow(storage);
    }
  };
  const at::Tensor& own = THPVariable_Unpack(tensor);
  if (!saved) follow(own);
  std::unordered_set<const Node*> seen;
  const NodePointer start = saved ? node_of(own) : NodePointer();
  for_each_node(start, seen, [&](const NodePointer& node, const Nodes&) {
    for (const at::Tensor& kept : saved_by(node).tensors) follow(kept);
    return true;
  });
  return watch;
}

}  // namespace xleak::libtorch
