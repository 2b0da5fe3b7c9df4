#include "source/certainty.hpp"

#include <unordered_set>

#include "source/frameworks.hpp"

namespace xleak::monitor::source {
namespace {

using Words = std::unordered_set<std::string_view>;

// What else is called on tensors, and on little else that a model returns.
const Words& methods() {
  static const Words words = {
      "abs",     "clamp",   "clone",   "contiguous", "cpu",         "cuda",          "exp",
      "expand",  "flatten", "float",   "half",       "log",         "matmul",        "max",
      "mean",    "min",     "mm",      "norm",       "permute",     "pow",           "repeat",
      "reshape", "sigmoid", "softmax", "sqrt",       "square",      "squeeze",       "std",
      "sum",     "tanh",    "topk",    "transpose",  "unsqueeze",   "var",           "view",
      "relu",    "sub",     "mul",     "div",        "log_softmax", "requires_grad_"};
  return words;
}

// By what it is made from: its value would be looked up by way of its own uses, and so on.
bool is_loss_function(xleak::monitor::Place place) {
  for (const PlaceBinding& binding : place.bindings()) {
    const Call made = binding.value.as_call();
    if (made && made_by(made.callee().dotted()) == Makes::loss_function) return true;
  }
  return false;
}

}  // namespace

bool is_method_of_tensors(std::string_view method) {
  const OnTensor effect = on_tensor(method);
  // Of these a class of the program, or of another library, may have one as well.
  if (method == "backward" || method == "any" || method == "all") return false;
  return effect != OnTensor::tensor || methods().count(method) != 0;
}

bool is_used_as_tensor(xleak::monitor::Place place) {
  for (const Expr& use : place.uses()) {
    const Call method = use.parent().parent().as_call();
    if (method && method.receiver() == use && is_method_of_tensors(method.method())) return true;
    const Call call = use.parent().as_call();
    if (!call || call.callee() == use || call.argument({}, 0) != use) continue;
    const Makes made = made_by(call.callee().dotted());
    if (made == Makes::loss || made == Makes::tensor || made == Makes::plain_tensor) return true;
    if (is_loss_function(call.callee().place())) return true;
  }
  return false;
}

bool returns_several(const Call& call) {
  static const Words always = {"split",        "chunk", "unbind", "topk",     "sort",    "kthvalue",
                               "meshgrid",     "mode",  "cummax", "svd",      "qr",      "slogdet",
                               "unsafe_chunk", "frexp", "eigh",   "var_mean", "std_mean"};
  static const Words along_a_dimension = {"max", "min", "median", "nanmedian"};
  const std::string_view name = call.callee().name();
  if (always.count(name) != 0) return true;
  if (along_a_dimension.count(name) == 0) return false;
  const std::size_t own = call.callee().dotted().empty() ? 0 : 1;
  return call.keyword("dim") || call.keyword("axis") || call.arguments().size() > own;
}

bool returns_one_tensor(std::string_view dotted) {
  static const Words tuples = {"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN", "torch.nn.LSTMCell",
                               "torch.nn.MultiheadAttention"};
  return dotted.substr(0, 9) == "torch.nn." && tuples.count(dotted) == 0;
}

}  // namespace xleak::monitor::source
