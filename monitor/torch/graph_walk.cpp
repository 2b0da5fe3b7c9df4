#include "graph_walk.hpp"

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <stdexcept>

namespace xleak::libtorch {

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

Nodes next_of(const Node& node) {
  Nodes next;
  for (const auto& edge : node.next_edges()) {
    if (edge.function) next.push_back(edge.function);
  }
  if (const auto* slices = dynamic_cast<const torch::autograd::CopySlices*>(&node)) {
    if (slices->fn) next.push_back(slices->fn);
  }
  return next;
}

const at::Tensor* leaf_of(const Node& node) {
  const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(&node);
  return leaf == nullptr ? nullptr : &leaf->variable;
}

// Depth first without recursion: a chain may have a million nodes.
bool for_each_node(const NodePointer& start, std::unordered_set<const Node*>& seen,
                   const VisitNode& visit) {
  struct Step {
    NodePointer node;
    Nodes next;
    std::size_t at;
  };
  std::vector<Step> open;
  const auto enter = [&](const NodePointer& node) {
    if (seen.insert(node.get()).second) open.push_back({node, next_of(*node), 0});
  };
  if (start) enter(start);
  while (!open.empty()) {
    Step& step = open.back();
    if (step.at < step.next.size()) {
      enter(NodePointer(step.next[step.at++]));
      continue;
    }
    const Step done = std::move(step);
    open.pop_back();
    if (!visit(done.node, done.next)) return false;
  }
  return true;
}

}  // namespace xleak::libtorch
