#include "graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph_walk.hpp"
#include "saved_tensors.hpp"

namespace xleak::libtorch {
namespace {

class Walk {
 public:
  void run(const NodePointer& start) {
    std::unordered_set<const Node*> seen;
    for_each_node(start, seen, [this](const NodePointer& node, const Nodes& next) {
      std::size_t& depth = depths_[node.get()];
      for (const NodePointer& deeper : next) depth = std::max(depth, depths_[deeper.get()]);
      facts_.depth = std::max(facts_.depth, ++depth);
      ++facts_.nodes;
      look_at(node);
      return true;
    });
  }

  GraphFacts take() { return std::move(facts_); }

 private:
  void look_at(const NodePointer& node) {
    facts_.hooks += node->pre_hooks().size() + node->post_hooks().size() +
                    node->tensor_pre_hooks().size() + node->retains_grad_hooks().size();
    if (const at::Tensor* leaf = leaf_of(*node)) {
      look_at_leaf(*leaf);
      return;
    }
    const SavedByNode saved = saved_by(node);
    facts_.packed += saved.packed;
    facts_.released += saved.released;
    facts_.opaque += saved.opaque ? 1 : 0;
    if (saved.context != 0) facts_.contexts.push_back(saved.context);
    for (const at::Tensor& tensor : saved.tensors) {
      for (const auto& storage : unseen(tensor)) facts_.saved.push_back({storage, node->name()});
    }
  }

  void look_at_leaf(const at::Tensor& leaf) {
    const auto* meta = torch::autograd::impl::get_autograd_meta(leaf);
    // Its other hooks the node has shown as its own.
    if (meta != nullptr && meta->post_acc_grad_hooks_) ++facts_.hooks;
    for (const c10::StorageImpl* storage : storages_of(leaf)) {
      const auto facts = describe(*storage);
      if (facts && parameters_.insert(storage).second) facts_.parameters.push_back(*facts);
    }
  }

  std::vector<StorageFacts> unseen(const at::Tensor& tensor) {
    std::vector<StorageFacts> found;
    for (const c10::StorageImpl* storage : storages_of(tensor)) {
      if (!saved_.insert(storage).second) continue;
      if (const auto facts = describe(*storage)) found.push_back(*facts);
    }
    return found;
  }

  GraphFacts facts_;
  std::unordered_map<const Node*, std::size_t> depths_;
  std::unordered_set<const c10::StorageImpl*> saved_;
  std::unordered_set<const c10::StorageImpl*> parameters_;
};

}  // namespace

GraphFacts graph_of(PyObject* tensor_or_node) {
  Walk walk;
  walk.run(node_of(tensor_or_node));
  return walk.take();
}

}  // namespace xleak::libtorch
