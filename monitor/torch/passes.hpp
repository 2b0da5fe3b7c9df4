#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace xleak::libtorch {

/// Address and number of a node: torch numbers those of a thread as they are made, so that another
/// one at the same address has another number.
using NodeId = std::pair<std::uintptr_t, std::uint64_t>;

/// How often a graph goes through the same parameters.
struct Passes {
  std::size_t count = 0;  ///< By the parameter that is used least.
  /// One pass led into the next, as the states of a recurrent network do: a single way leads
  /// through most uses of the parameter that is used most.
  bool in_sequence = false;
  std::size_t widest = 0;  ///< The most nodes that a node has next of it.
  NodeId node;             ///< The one that made the tensor.
};

/// Looks at the graph of a tensor or of its grad_fn. Needs the GIL. Throws std::invalid_argument
/// for another object.
Passes passes_of(PyObject* tensor_or_node);

/// Whether a graph has a node. The same.
bool leads_to(PyObject* tensor_or_node, NodeId node);

}  // namespace xleak::libtorch
