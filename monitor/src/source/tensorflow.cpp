#include "source/tensorflow.hpp"

#include <algorithm>
#include <unordered_set>

#include "affix.hpp"

namespace xleak::monitor::tensorflow {
namespace {

using source::Bound;
using source::Field;
using source::Kind;
using Words = std::unordered_set<std::string_view>;

// More iterations than this are as good as any number.
constexpr long long kMost = 1'000'000;

// A call that stands two functions away from its loop is still read as in it.
constexpr int kLevels = 2;

bool repeats(const Expr& spot, long long few, int levels) {
  if (!spot.loops().empty()) {
    const auto known = iterations(spot);
    return !known || *known > few;
  }
  if (levels == 0) return false;
  for (const Call& site : spot.function().call_sites()) {
    if (repeats(site, few, levels - 1)) return true;
  }
  return false;
}

// `step = tf.function(step)`, `tf.function(lambda x: …)`.
Expr wrapping_call(const SourceView& code, const Function& function) {
  for (const Call& call : code.calls_to({"tensorflow.function"})) {
    const Expr wrapped = call.argument("func", 0);
    if (wrapped == function) return call;
    for (const PlaceBinding& binding : wrapped.place().bindings()) {
      if (binding.how == Bound::function && binding.target == function) return call;
    }
  }
  return {};
}

// Functions of the tensorflow module that add nothing to a graph.
const Words& no_operations() {
  static const Words words = {"function",
                              "device",
                              "name_scope",
                              "variable_scope",
                              "control_dependencies",
                              "reset_default_graph",
                              "global_variables",
                              "local_variables",
                              "trainable_variables",
                              "model_variables",
                              "add_to_collection",
                              "global_variables_initializer",
                              "local_variables_initializer",
                              "tables_initializer",
                              "initialize_all_variables",
                              "variables_initializer",
                              "set_random_seed",
                              "disable_eager_execution",
                              "enable_eager_execution",
                              "disable_v2_behavior",
                              "enable_v2_behavior",
                              "disable_resource_variables",
                              "executing_eagerly",
                              "init_scope",
                              "is_tensor",
                              "make_ndarray",
                              "make_tensor_proto",
                              "import_graph_def",
                              "as_dtype",
                              "load_library",
                              "load_op_library",
                              "recompute_grad",
                              "custom_gradient",
                              "broadcast_static_shape",
                              "no_op"};
  return words;
}

bool is_module_of_operations(std::string_view module) {
  static const Words words = {"math",    "nn",     "linalg", "random", "image",
                              "io",      "audio",  "sparse", "signal", "strings",
                              "bitwise", "layers", "losses", "sets",   "ragged"};
  return words.count(module) != 0;
}

}  // namespace

bool is_used(const SourceView& code) { return code.uses("tensorflow") || code.uses("keras"); }

bool is_graph_mode(const SourceView& code) {
  return code.uses("tensorflow") &&
         !code.calls_to({"tensorflow.Session", "tensorflow.InteractiveSession",
                         "tensorflow.placeholder", "tensorflow.disable_eager_execution",
                         "tensorflow.disable_v2_behavior", "keras.backend.get_session"})
              .empty();
}

std::optional<long long> iterations(const Expr& spot) {
  long long product = 1;
  for (const Loop& loop : spot.loops()) {
    const auto of_loop = loop.iterations();
    if (!of_loop) return std::nullopt;
    product = std::min(product, kMost) * std::min(*of_loop, kMost);
  }
  return product;
}

bool repeats(const Expr& spot, long long few) { return repeats(spot, few, kLevels); }

bool is_bound_in(const Place& place, const Expr& spot) {
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const PlaceBinding& binding) { return binding.target.is_inside(spot); });
}

bool depends_on(const Expr& expression, const Expr& spot) {
  for (const Kind kind : {Kind::name, Kind::attribute}) {
    for (const Expr& name : expression.all(kind)) {
      if (name.place() && is_bound_in(name.place(), spot)) return true;
    }
  }
  return false;
}

bool is_tf_function(const Expr& expression) {
  if (expression.is_dotted({"tensorflow.function"})) return true;
  const Call call = expression.as_call();
  if (!call) return false;
  if (call.callee().is_dotted({"tensorflow.function"})) return true;
  const auto arguments = call.arguments();
  return call.callee().is_dotted({"functools.partial"}) && !arguments.empty() &&
         arguments.front().is_dotted({"tensorflow.function"});
}

Expr compiled_by(const SourceView& code, const Function& function) {
  for (const Expr& decorator : function.decorators()) {
    if (is_tf_function(decorator)) return decorator;
  }
  return function ? wrapping_call(code, function) : Expr();
}

bool is_compiled(const SourceView& code, const Expr& spot) {
  for (Function function = spot.function(); function; function = function.function()) {
    if (compiled_by(code, function)) return true;
  }
  return false;
}

bool becomes_graph(const SourceView& code, const Expr& spot) {
  const Function function = spot.function();
  const bool is_call_of_keras =
      function.is_method() && function.name() == "call" &&
      code.is_derived(function.class_definition(),
                      {"keras.layers.Layer", "keras.Layer", "keras.Model", "keras.models.Model"});
  return is_call_of_keras || is_compiled(code, spot);
}

bool is_operation(const Call& call) {
  const std::string_view dotted = call.callee().dotted();
  if (!starts_with(dotted, "tensorflow.")) return false;
  const std::string_view rest = dotted.substr(11);
  const std::size_t dot = rest.find('.');
  if (dot != std::string_view::npos) {
    return is_module_of_operations(rest.substr(0, dot)) &&
           rest.find("gfile") == std::string_view::npos &&
           rest.find("nitializer") == std::string_view::npos && rest != "io.write_graph" &&
           rest != "random.set_seed";
  }
  if (rest == "Variable") return true;
  if (starts_with(rest, "get_") && rest != "get_variable") return false;
  const bool is_class = !rest.empty() && rest.front() >= 'A' && rest.front() <= 'Z';
  return !is_class && no_operations().count(rest) == 0;
}

bool is_with_item(const Call& call) {
  const Expr above = call.parent();
  return above.is(Kind::with_block) ||
         (above.is(Kind::as_pattern) && above.parent().is(Kind::with_block));
}

}  // namespace xleak::monitor::tensorflow
