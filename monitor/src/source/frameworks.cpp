#include "source/frameworks.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "affix.hpp"

namespace xleak::monitor::source {
namespace {

using Table = std::unordered_map<std::string_view, Makes>;
using Words = std::unordered_set<std::string_view>;

const Table& exact() {
  static const Table table = {
      {"torch.autograd.grad", Makes::gradients},
      {"torch.nn.Parameter", Makes::parameter},
      {"torch.nn.parameter.Parameter", Makes::parameter},
      {"torch.compile", Makes::same_module},
      {"torch.jit.trace", Makes::same_module},
      {"torch.jit.script", Makes::same_module},
      {"torch.hub.load", Makes::module},
      {"timm.create_model", Makes::module},
      {"torch.utils.data.DataLoader", Makes::loader},
      {"torch_geometric.loader.DataLoader", Makes::loader},
      {"torch_geometric.data.DataLoader", Makes::loader},
      {"collections.deque", Makes::deque},
      {"builtins.float", Makes::number},
      {"builtins.int", Makes::number},
      {"builtins.bool", Makes::number},
      {"builtins.len", Makes::number},
      {"builtins.round", Makes::number},
      {"builtins.str", Makes::text},
      {"builtins.list", Makes::list},
      {"builtins.dict", Makes::dict},
      {"collections.defaultdict", Makes::dict},
      {"collections.OrderedDict", Makes::dict},
      {"builtins.set", Makes::set},
      {"builtins.tuple", Makes::tuple},
      {"pandas.DataFrame", Makes::array},
      {"pandas.Series", Makes::array},
      {"pandas.concat", Makes::array},
      {"keras.Input", Makes::keras_input},
      {"keras.layers.Input", Makes::keras_input},
      {"keras.Sequential", Makes::keras_model},
      {"keras.Model", Makes::keras_model},
      {"keras.models.Sequential", Makes::keras_model},
      {"keras.models.Model", Makes::keras_model},
      {"keras.models.load_model", Makes::keras_model},
      {"keras.models.clone_model", Makes::keras_model},
      {"keras.saving.load_model", Makes::keras_model},
      {"keras.preprocessing.image_dataset_from_directory", Makes::dataset},
      {"keras.utils.image_dataset_from_directory", Makes::dataset},
      {"keras.utils.text_dataset_from_directory", Makes::dataset},
  };
  return table;
}

// Functions of the torch module that return a tensor without a graph of its own.
const Words& torch_leaves() {
  static const Words words = {
      "zeros",      "ones",         "empty",       "full",       "eye",          "arange",
      "linspace",   "logspace",     "rand",        "randn",      "randint",      "randperm",
      "tensor",     "as_tensor",    "from_numpy",  "zeros_like", "ones_like",    "rand_like",
      "randn_like", "randint_like", "empty_like",  "full_like",  "normal",       "multinomial",
      "bernoulli",  "Tensor",       "FloatTensor", "LongTensor", "scalar_tensor"};
  return words;
}

const Words& torch_plain() {
  static const Words words = {"argmax",     "argmin",      "eq",     "ne",      "gt",
                              "lt",         "ge",          "le",     "isnan",   "isinf",
                              "isfinite",   "allclose",    "equal",  "nonzero", "bincount",
                              "histc",      "argsort",     "any",    "all",     "logical_and",
                              "logical_or", "logical_not", "isclose"};
  return words;
}

// What else lies in the torch module and is no operation on tensors.
const Words& torch_no_operation() {
  static const Words words = {"load",
                              "save",
                              "manual_seed",
                              "seed",
                              "device",
                              "no_grad",
                              "enable_grad",
                              "inference_mode",
                              "set_grad_enabled",
                              "set_default_dtype",
                              "set_default_device",
                              "set_default_tensor_type",
                              "set_num_threads",
                              "get_num_threads",
                              "is_tensor",
                              "is_grad_enabled",
                              "is_anomaly_enabled",
                              "is_inference_mode_enabled",
                              "numel",
                              "Generator",
                              "Size",
                              "dtype",
                              "float16",
                              "float32",
                              "float64",
                              "bfloat16",
                              "int32",
                              "int64",
                              "long",
                              "bool",
                              "uint8",
                              "autocast",
                              "compile",
                              "set_printoptions",
                              "get_rng_state",
                              "set_rng_state",
                              "initial_seed",
                              "use_deterministic_algorithms",
                              "finfo",
                              "iinfo",
                              "is_floating_point",
                              "set_float32_matmul_precision",
                              "vmap",
                              "OutOfMemoryError",
                              "get_default_dtype",
                              "typename",
                              "export"};
  return words;
}

bool is_class_name(std::string_view name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Makes of_torch(std::string_view rest) {
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) {
    if (torch_no_operation().count(rest) != 0) return Makes::unknown;
    if (torch_leaves().count(rest) != 0) return Makes::leaf_tensor;
    if (torch_plain().count(rest) != 0) return Makes::plain_tensor;
    return is_class_name(rest) ? Makes::unknown : Makes::tensor;
  }
  const std::string_view last = rest.substr(rest.rfind('.') + 1);
  if (starts_with(rest, "nn.functional.")) {
    const bool is_loss = contains(last, "loss") || contains(last, "entropy") || last == "kl_div" ||
                         last == "binary_cross_entropy_with_logits";
    if (last == "one_hot") return Makes::plain_tensor;
    return is_loss ? Makes::loss : Makes::tensor;
  }
  if (starts_with(rest, "nn.")) {
    if (!is_class_name(last)) return Makes::unknown;
    return ends_with(last, "Loss") ? Makes::loss_function : Makes::module;
  }
  if (starts_with(rest, "optim.")) {
    return is_class_name(last) && !contains(rest, "lr_scheduler") ? Makes::optimizer
                                                                  : Makes::unknown;
  }
  const bool of_tensors = starts_with(rest, "linalg.") || starts_with(rest, "fft.") ||
                          starts_with(rest, "special.") || starts_with(rest, "sparse.");
  return of_tensors && !is_class_name(last) ? Makes::tensor : Makes::unknown;
}

// The name goes on with that of a model: `TFBertModel`.
bool is_model_of(std::string_view name, std::string_view framework) {
  return starts_with(name, framework) && is_class_name(name.substr(framework.size()));
}

Makes of_transformers(std::string_view rest) {
  const std::size_t dot = rest.rfind('.');
  if (dot == std::string_view::npos || rest.substr(dot + 1) != "from_pretrained")
    return Makes::unknown;
  const std::string_view of = rest.substr(0, dot);
  // "TensorFlow models have the prefix TF, Flax models Flax": transformers, up to version 4. The
  // former are models of Keras.
  if (is_model_of(of, "Flax")) return Makes::unknown;
  if (is_model_of(of, "TF")) return Makes::keras_model;
  const bool is_model =
      contains(of, "Model") || contains(of, "For") || contains(of, "Bert") || contains(of, "GPT");
  const bool is_other = contains(of, "Tokenizer") || contains(of, "Processor") ||
                        contains(of, "Config") || contains(of, "Extractor");
  return is_model && !is_other ? Makes::transformer : Makes::unknown;
}

Makes of_keras(std::string_view rest) {
  const std::string_view last = rest.substr(rest.rfind('.') + 1);
  if (starts_with(rest, "applications.") && is_class_name(last)) return Makes::keras_model;
  if (starts_with(rest, "layers.") && is_class_name(last)) return Makes::keras_layer;
  if (starts_with(rest, "ops.") || starts_with(rest, "activations.")) return Makes::tf_tensor;
  return Makes::unknown;
}

Makes of_tensorflow(std::string_view rest) {
  if (starts_with(rest, "data.")) {
    return contains(rest, "Dataset") ? Makes::dataset : Makes::unknown;
  }
  const std::string_view last = rest.substr(rest.rfind('.') + 1);
  const bool is_operation = rest.find('.') == std::string_view::npos ||
                            starts_with(rest, "math.") || starts_with(rest, "nn.") ||
                            starts_with(rest, "random.") || starts_with(rest, "linalg.") ||
                            starts_with(rest, "image.");
  return is_operation && !is_class_name(last) && last != "function" ? Makes::tf_tensor
                                                                    : Makes::unknown;
}

Makes find(std::string_view dotted) {
  const auto at = exact().find(dotted);
  if (at != exact().end()) return at->second;
  if (starts_with(dotted, "torch.")) return of_torch(dotted.substr(6));
  if (starts_with(dotted, "torchvision.models.") ||
      starts_with(dotted, "segmentation_models_pytorch.")) {
    return Makes::module;
  }
  if (starts_with(dotted, "transformers.")) return of_transformers(dotted.substr(13));
  if (starts_with(dotted, "keras.")) return of_keras(dotted.substr(6));
  if (starts_with(dotted, "tensorflow.")) return of_tensorflow(dotted.substr(11));
  if (starts_with(dotted, "numpy.") || starts_with(dotted, "pandas.read_")) return Makes::array;
  if (starts_with(dotted, "torch_geometric.nn.") || starts_with(dotted, "timm.models.")) {
    return is_class_name(dotted.substr(dotted.rfind('.') + 1)) ? Makes::module : Makes::unknown;
  }
  return Makes::unknown;
}

}  // namespace

Makes made_by(std::string_view dotted) { return dotted.empty() ? Makes::unknown : find(dotted); }

OnTensor on_tensor(std::string_view method) {
  static const std::unordered_map<std::string_view, OnTensor> table = {
      {"item", OnTensor::number},
      {"tolist", OnTensor::number},
      {"size", OnTensor::number},
      {"dim", OnTensor::number},
      {"numel", OnTensor::number},
      {"nelement", OnTensor::number},
      {"element_size", OnTensor::number},
      {"stride", OnTensor::number},
      {"data_ptr", OnTensor::number},
      {"is_contiguous", OnTensor::number},
      {"storage", OnTensor::number},
      {"get_device", OnTensor::number},
      {"numpy", OnTensor::array},
      {"detach", OnTensor::plain_tensor},
      {"detach_", OnTensor::plain_tensor},
      {"argmax", OnTensor::plain_tensor},
      {"argmin", OnTensor::plain_tensor},
      {"argsort", OnTensor::plain_tensor},
      {"eq", OnTensor::plain_tensor},
      {"ne", OnTensor::plain_tensor},
      {"gt", OnTensor::plain_tensor},
      {"lt", OnTensor::plain_tensor},
      {"ge", OnTensor::plain_tensor},
      {"le", OnTensor::plain_tensor},
      {"isnan", OnTensor::plain_tensor},
      {"isinf", OnTensor::plain_tensor},
      {"isfinite", OnTensor::plain_tensor},
      {"any", OnTensor::plain_tensor},
      {"all", OnTensor::plain_tensor},
      {"nonzero", OnTensor::plain_tensor},
      {"int", OnTensor::plain_tensor},
      {"long", OnTensor::plain_tensor},
      {"bool", OnTensor::plain_tensor},
      {"byte", OnTensor::plain_tensor},
      {"multinomial", OnTensor::plain_tensor},
      {"backward", OnTensor::nothing},
      {"register_hook", OnTensor::nothing},
  };
  const auto at = table.find(method);
  return at == table.end() ? OnTensor::tensor : at->second;
}

bool is_plain_attribute(std::string_view name) {
  static const Words words = {"shape",     "dtype",    "device",        "ndim",    "is_cuda",
                              "layout",    "grad_fn",  "requires_grad", "is_leaf", "names",
                              "is_sparse", "itemsize", "nbytes",        "indices"};
  return words.count(name) != 0;
}

bool returns_module(std::string_view method) {
  static const Words words = {"to",    "cuda",         "cpu",    "eval",     "train",
                              "half",  "float",        "double", "bfloat16", "requires_grad_",
                              "apply", "share_memory", "type",   "xpu",      "to_empty"};
  return words.count(method) != 0;
}

}  // namespace xleak::monitor::source
