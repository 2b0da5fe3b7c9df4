#pragma once
#include <Python.h>

#include <functional>
#include <unordered_set>
#include <vector>

#include "saved_tensors.hpp"

namespace xleak::libtorch {

using Nodes = std::vector<NodePointer>;

/// The node that made a tensor; null for a leaf and where no graph was kept.
NodePointer node_of(const at::Tensor& tensor);

/// The same of a Python object that is a tensor, or a node such as its grad_fn. Throws
/// std::invalid_argument for another one.
NodePointer node_of(PyObject* tensor_or_node);

/// The nodes that gradients go to from this one.
Nodes next_of(const Node& node);

/// The leaf that a node accumulates gradients for; null for any other node.
const at::Tensor* leaf_of(const Node& node);

/// Called with a node and those next of it, all of which it was called with before. False stops.
using VisitNode = std::function<bool(const NodePointer&, const Nodes&)>;

/// Visits what `start` leads to, `start` last, and leaves out what is in `seen` already. False: it
/// was stopped.
bool for_each_node(const NodePointer& start, std::unordered_set<const Node*>& seen,
                   const VisitNode& visit);

}  // namespace xleak::libtorch
