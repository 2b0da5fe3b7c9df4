#pragma once
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <cstdint>
#include <vector>

namespace xleak::libtorch {

// std::shared_ptr before torch 2.13, c10::intrusive_ptr since.
using NodePointer = decltype(torch::autograd::AutogradMeta::grad_fn_);
using torch::autograd::Node;

/// What one node keeps.
struct SavedByNode {
  std::vector<at::Tensor> tensors;
  std::size_t packed = 0;    ///< Kept in another form by a user's saved_tensors_hooks.
  std::size_t released = 0;  ///< Kept until a backward pass went through it.
  bool opaque = false;       ///< A node of another C++ extension: torch has no list of its fields.
  std::uintptr_t context = 0;  ///< id() of the context, where the node is a Python function.
};

/// Reads what a node saved and has not released. Needs the GIL; leaves no Python error set. Makes
/// no Python object for a node: in torch 2.13 a long chain of nodes that have one overflows the
/// stack when it is freed.
SavedByNode saved_by(const NodePointer& node);

}  // namespace xleak::libtorch
