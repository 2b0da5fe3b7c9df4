#include "graph.hpp"

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "census.hpp"
#include "saved_tensors.hpp"

namespace xleak::libtorch {
namespace {

// The field, not grad_fn(): that builds a new node for a view that was changed.
NodePointer node_of(const at::Tensor& tensor) {
  const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
  return meta == nullptr ? NodePointer() : meta->grad_fn_;
}

NodePointer node_of(PyObject* object) {
  const auto* tensor_class = reinterpret_cast<PyTypeObject*>(THPVariableClass);
  if (tensor_class != nullptr &&
      PyObject_TypeCheck(object, const_cast<PyTypeObject*>(tensor_class))) {
    return node_of(THPVariable_Unpack(object));
  }
  if (torch::autograd::THPCppFunction_Check(object)) {
    return reinterpret_cast<torch::autograd::THPCppFunction*>(object)->cdata;
  }
  throw std::invalid_argument("graph() takes a tensor or its grad_fn");
}

std::vector<NodePointer> next_of(const NodePointer& node) {
  std::vector<NodePointer> next;
  for (const auto& edge : node->next_edges()) {
    if (edge.function) next.push_back(edge.function);
  }
  if (auto* slices = dynamic_cast<torch::autograd::CopySlices*>(node.get())) {
    if (slices->fn) next.push_back(slices->fn);
  }
  return next;
}

class Walk {
 public:
  /// Depth first without recursion: a chain may have a million nodes.
  void run(const NodePointer& start) {
    if (!start || depths_.count(start.get()) != 0) return;
    enter(start);
    while (!open_.empty()) {
      Step& step = open_.back();
      if (step.at < step.next.size()) {
        const NodePointer& next = step.next[step.at++];
        const auto known = depths_.find(next.get());
        if (known == depths_.end()) {
          enter(next);
        } else {
          step.deepest = std::max(step.deepest, known->second);
        }
        continue;
      }
      leave();
    }
  }

  const std::vector<SavedStorage>& saved() const { return facts_.saved; }
  GraphFacts take() { return std::move(facts_); }

 private:
  struct Step {
    NodePointer node;
    std::vector<NodePointer> next;
    std::size_t at;
    std::size_t deepest;
  };

  void enter(const NodePointer& node) {
    depths_.emplace(node.get(), 0);
    ++facts_.nodes;
    look_at(node);
    open_.push_back({node, next_of(node), 0, 0});
  }

  void leave() {
    const std::size_t depth = open_.back().deepest + 1;
    depths_[open_.back().node.get()] = depth;
    open_.pop_back();
    facts_.depth = std::max(facts_.depth, depth);
    if (!open_.empty()) open_.back().deepest = std::max(open_.back().deepest, depth);
  }

  void look_at(const NodePointer& node) {
    facts_.hooks += node->pre_hooks().size() + node->post_hooks().size() +
                    node->tensor_pre_hooks().size() + node->retains_grad_hooks().size();
    if (auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node.get())) {
      look_at_leaf(leaf->variable);
      return;
    }
    const SavedByNode saved = saved_by(node);
    facts_.packed += saved.packed;
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
  std::vector<Step> open_;
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

std::vector<KeptStorage> kept_by_graphs() {
  std::vector<KeptStorage> kept;
  Walk walk;
  for_each_tensor([&](PyObject* object, const at::Tensor& tensor) {
    walk.run(node_of(tensor));
    while (kept.size() < walk.saved().size()) {
      kept.push_back({walk.saved()[kept.size()], reinterpret_cast<std::uintptr_t>(object)});
    }
  });
  return kept;
}

}  // namespace xleak::libtorch
