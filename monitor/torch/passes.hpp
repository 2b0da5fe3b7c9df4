#pragma once
#include <Python.h>

#include <cstddef>

namespace xleak::libtorch {

/// How often a graph goes through the same parameters.
struct Passes {
  std::size_t count = 0;  ///< By the parameter that is used least.
  /// One pass led into the next, as the states of a recurrent network do: a single way leads
  /// through most uses of the parameter that is used most.
  bool in_sequence = false;
  std::size_t widest = 0;     ///< The most nodes that a node has next of it.
  std::size_t gradients = 0;  ///< Parameters that have a gradient.
  std::size_t parameters = 0;
};

/// Looks at the graph of a tensor or of its grad_fn. Needs the GIL. Throws std::invalid_argument
/// for another object.
Passes passes_of(PyObject* tensor_or_node);

}  // namespace xleak::libtorch
