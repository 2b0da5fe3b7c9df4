#pragma once
#include <string_view>

namespace xleak::monitor::source {

/// What a function or class of a library makes, by its dotted name.
enum class Makes : unsigned char {
  unknown,
  leaf_tensor,   ///< torch.zeros and its like: no graph unless it is told to require a gradient.
  plain_tensor,  ///< A tensor that never has a graph: torch.argmax, a comparison.
  tensor,        ///< A tensor with the graph of its arguments.
  loss,          ///< The same, and it is a loss.
  gradients,     ///< torch.autograd.grad: a graph only where create_graph says so.
  parameter,
  module,
  same_module,  ///< torch.compile and its like return a module for a module.
  transformer,  ///< A model of Hugging Face, whose outputs have the tensors as attributes.
  loss_function,
  optimizer,
  loader,
  deque,
  array,
  keras_model,
  keras_layer,
  keras_input,
  tf_tensor,
  dataset,
  number,
  text,
  list,
  dict,
  set,
  tuple,
};

Makes made_by(std::string_view dotted);

/// What a method does to the tensor that it is called on.
enum class OnTensor : unsigned char { tensor, number, plain_tensor, array, nothing };
OnTensor on_tensor(std::string_view method);

/// The attribute of a tensor is a number, a shape or a device, never a graph.
bool is_plain_attribute(std::string_view name);

/// The method returns the module that it is called on.
bool returns_module(std::string_view method);

}  // namespace xleak::monitor::source
