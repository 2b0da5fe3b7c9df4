#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storages.hpp"

namespace xleak::libtorch {

/// A storage that a node of an autograd graph keeps for the way back.
struct SavedStorage {
  StorageFacts storage;
  std::string node;  ///< "MulBackward0"
};

/// An autograd graph as it is reached from one tensor, as plain facts.
struct GraphFacts {
  std::size_t nodes = 0;
  std::size_t depth = 0;   ///< Nodes on the longest chain.
  std::size_t hooks = 0;   ///< Of its nodes, and of the leaves that it ends in.
  std::size_t packed = 0;  ///< Saved through hooks of the user's: what they keep is not known here.
  std::size_t released = 0;  ///< Saved, until a backward pass went through it.
  std::size_t opaque = 0;    ///< Nodes of C++ extensions: what they keep is not known here either.
  std::vector<SavedStorage> saved;       ///< Each storage once.
  std::vector<StorageFacts> parameters;  ///< Leaves that gradients are accumulated for.
  std::vector<std::uintptr_t> contexts;  ///< id() of the context of each Python function.
};

/// Walks the graph of a tensor, or that of a node such as its grad_fn. Computes nothing, unpacks
/// nothing, calls no hook. Needs the GIL. Throws std::invalid_argument for another object.
GraphFacts graph_of(PyObject* tensor_or_node);

}  // namespace xleak::libtorch
