// Which Keras models a loop makes again, and what lets go of them.
#include <algorithm>

#include "affix.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::tensorflow {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// A train and a test model, or a small and a large one, are no pile.
constexpr long long kFewModels = 2;

List<Call> trainings(const Place& model) {
  return model.calls_of({"fit", "compile", "predict", "evaluate", "fit_generator", "train_on_batch",
                         "predict_on_batch", "test_on_batch"});
}

// `evaluate(model, data)` where the program's own `evaluate` trains what it gets.
bool is_trained_by_callee(const Expr& use) {
  const Call call = use.parent().as_call();
  if (!call) return false;
  const auto arguments = call.arguments();
  const auto at = std::find(arguments.begin(), arguments.end(), use) - arguments.begin();
  for (const Function& function : call.callees()) {
    const auto parameters = function.parameters();
    const std::size_t position = static_cast<std::size_t>(at) + (function.is_method() ? 1 : 0);
    if (position < parameters.size() && !trainings(parameters[position].place()).empty())
      return true;
  }
  return false;
}

bool is_trained(const Place& model, const Expr& body) {
  for (const Call& call : trainings(model)) {
    if (call.is_inside(body)) return true;
  }
  for (const Expr& use : model.uses()) {
    if (use.is_inside(body) && is_trained_by_callee(use)) return true;
  }
  return false;
}

bool is_argument_of_keeper(const Expr& use) {
  const Call call = use.parent().as_call();
  if (!call || call.receiver() == use) return false;
  const std::string_view method = call.method();
  return method == "append" || method == "add" || method == "insert" || method == "put" ||
         method == "setdefault";
}

bool runs_elsewhere(const SourceView& code, const Expr& body) {
  for (const Call& call : code.calls_in(body)) {
    const std::string_view dotted = call.callee().dotted();
    if (starts_with(dotted, "multiprocessing.") || starts_with(dotted, "subprocess.")) return true;
  }
  return false;
}

// The body that is run again and again: of the innermost loop, else of the function.
Expr repeated_body(const Expr& statement) {
  const auto loops = statement.loops();
  if (!loops.empty()) return loops.front().body();
  return statement.function().body();
}

bool clears_anywhere_around(const SourceView& code, const Expr& statement) {
  for (const Loop& loop : statement.loops()) {
    if (clears_session(code, loop.body())) return true;
  }
  const Function function = statement.function();
  if (!function) return false;
  if (clears_session(code, function.body())) return true;
  for (const Call& site : function.call_sites()) {
    for (const Loop& loop : site.loops()) {
      if (clears_session(code, loop.body())) return true;
    }
  }
  return false;
}

bool makes_model(const Expr& value) {
  return value.is(Kind::call) && value.value().type == ValueType::keras_model;
}

bool reads_gpu_memory(const SourceView& code) {
  const auto reads = code.calls_to({"tensorflow.config.experimental.get_memory_info"});
  return std::any_of(reads.begin(), reads.end(), [](const Call& call) {
    return call.argument("device", 0).string().find("CPU") == std::string_view::npos;
  });
}

}  // namespace

std::vector<ModelPerTurn> models_per_iteration(const SourceView& code) {
  std::vector<ModelPerTurn> result;
  if (!code.uses("keras")) return result;
  for (const Expr& statement : code.assignments()) {
    const Expr target = statement.child(Field::left);
    const Place model = target.place();
    const Expr value = statement.child(Field::right);
    if (!model || !value.is(Kind::call) || !repeats(statement, kFewModels)) continue;
    if (!makes_model(value) || statement.is_guarded()) continue;
    const Expr body = repeated_body(statement);
    if (!is_trained(model, body) || is_kept(model, body)) continue;
    if (runs_elsewhere(code, body)) continue;
    const bool is_told = !result.empty() && result.back().body == body;
    if (!is_told) {
      result.push_back({statement, target, body, clears_anywhere_around(code, statement)});
    }
  }
  return result;
}

bool clears_session(const SourceView& code, const Expr& spot) {
  for (const Call& call : code.calls_in(spot)) {
    const Expr callee = call.callee();
    if (callee.is_dotted(
            {"keras.backend.clear_session", "tensorflow.reset_default_graph", "tensorflow.Graph"}))
      return true;
    if (callee.name() == "clear_session" || callee.name() == "reset_default_graph") return true;
  }
  return false;
}

bool sets_up_gpu(const SourceView& code) {
  for (const Call& call :
       code.calls_to({"tensorflow.device", "tensorflow.config.list_physical_devices",
                      "tensorflow.config.experimental.list_physical_devices",
                      "tensorflow.config.list_logical_devices"})) {
    const Expr which = call.argument("device_type", 0);
    const std::string_view name = which ? which.string() : call.keyword("device_name").string();
    if (name.find("GPU") != std::string_view::npos || name.find("gpu") != std::string_view::npos)
      return true;
  }
  return reads_gpu_memory(code) ||
         !code.calls_to({"tensorflow.config.experimental.set_memory_growth",
                         "tensorflow.config.set_logical_device_configuration",
                         "tensorflow.config.experimental.set_virtual_device_configuration",
                         "tensorflow.GPUOptions", "tensorflow.test.is_gpu_available",
                         "tensorflow.test.gpu_device_name"})
              .empty();
}

bool is_kept(const Place& place, const Expr& body) {
  for (const Expr& use : place.uses()) {
    if (!use.is_inside(body)) continue;
    Expr value = use;
    while (value.parent().is(Kind::tuple) || value.parent().is(Kind::list) ||
           value.parent().is(Kind::pair) || value.parent().is(Kind::dict) ||
           value.parent().is(Kind::keyword))
      value = value.parent();
    const Expr user = value.parent();
    if (user.is(Kind::return_statement) || user.is(Kind::yield)) return true;
    if (user.is(Kind::assign) && user.child(Field::right) == value) return true;
    if (is_argument_of_keeper(value)) return true;
  }
  return false;
}

bool collects_garbage(const SourceView& code, const Expr& spot) {
  for (const Call& call : code.calls_in(spot)) {
    if (call.callee().is_dotted({"gc.collect"})) return true;
  }
  return false;
}

Expr first_statement(const Expr& body) {
  for (const Expr& statement : body.children()) {
    const auto parts = statement.children();
    const bool is_docstring = statement.is(Kind::expression_statement) && parts.size() == 1 &&
                              parts.front().is(Kind::string);
    if (!is_docstring) return statement;
  }
  return {};
}

std::string clear_session_call(const SourceView& code) {
  const std::string_view keras = code.imported_as("keras");
  if (!keras.empty()) return std::string(keras) + ".backend.clear_session()";
  const std::string_view backend = code.imported_as("keras.backend");
  if (!backend.empty()) return std::string(backend) + ".clear_session()";
  const std::string_view tensorflow = code.imported_as("tensorflow");
  if (tensorflow.empty()) return {};
  return std::string(tensorflow) + ".keras.backend.clear_session()";
}

}  // namespace xleak::monitor::tensorflow
