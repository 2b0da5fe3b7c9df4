// A training step of one's own runs eagerly for every batch.
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::eager_step_in_loop {
namespace {

using source::Kind;

constexpr long long kFewSteps = 8;

bool runs_eagerly_on_purpose(const SourceView& code) {
  return !code.calls_to({"tensorflow.config.run_functions_eagerly",
                         "tensorflow.config.experimental_run_functions_eagerly",
                         "tensorflow.compat.v1.disable_eager_execution"})
              .empty();
}

// Keras compiles what is named so.
bool is_step_of_keras(const SourceView& code, const Function& function) {
  return function.is_method() && (function.name() == "train_step" || function.name() == "call") &&
         code.is_derived(function.class_definition(),
                         {"keras.Model", "keras.models.Model", "keras.Sequential"});
}

bool applies_gradients(const Function& function) {
  for (const Expr& call : function.body().all(Kind::call)) {
    if (call.as_call().method() == "apply_gradients" && call.function() == function) return true;
  }
  return false;
}

bool is_of_other_library(std::string_view dotted) {
  const std::string_view package = dotted.substr(0, dotted.find('.'));
  return !package.empty() && !is_one_of(package, {"tensorflow", "keras", "builtins"});
}

// Numbers and text exist only while it runs. What other libraries do, such as drawing a sample by
// NumPy, would happen once, when it is traced.
bool needs_python(const SourceView& code, const Function& function) {
  for (const Call& call : code.calls_in(function.body())) {
    if (is_one_of(call.method(), {"numpy", "item", "append", "predict"})) return true;
    if (call.callee().is_dotted({"builtins.print", "builtins.float", "builtins.int"})) return true;
    if (is_of_other_library(call.callee().dotted())) return true;
  }
  return false;
}

bool has_loop(const Function& function) {
  return !function.body().all(Kind::for_loop).empty() ||
         !function.body().all(Kind::while_loop).empty();
}

// Some call is in a loop, and none is in a function that is compiled.
bool is_called_in_eager_loop(const SourceView& code, const Function& function) {
  bool in_loop = false;
  for (const Call& site : function.call_sites()) {
    if (tensorflow::is_compiled(code, site)) return false;
    in_loop |= tensorflow::repeats(site, kFewSteps);
  }
  return in_loop;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("tensorflow.GradientTape") || runs_eagerly_on_purpose(code)) return findings;
  Function last_told;
  for (const Call& tape : code.calls_to({"tensorflow.GradientTape"})) {
    const Function function = tape.function();
    if (!function.is(Kind::function) || function == last_told || !applies_gradients(function))
      continue;
    if (tensorflow::is_compiled(code, tape) || is_step_of_keras(code, function)) continue;
    if (needs_python(code, function) || has_loop(function) ||
        !is_called_in_eager_loop(code, function))
      continue;
    Finding finding = function.finding("`" + std::string(function.name()) +
                                       "` is a training step that runs eagerly for every batch: "
                                       "time, and a Python object for each "
                                       "operation. Decorate it with `@tf.function`.");
    const std::string_view tf = code.imported_as("tensorflow");
    const auto edit = function.decorated_by("@" + std::string(tf) + ".function");
    if (!tf.empty() && edit && function.decorators().empty())
      finding.fixes.push_back({"Compile the step", "", {*edit}, /*safe=*/false});
    findings.push_back(std::move(finding));
    last_told = function;
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL503", "eager_step_in_loop", Severity::note, nullptr, in_source};

}  // namespace xleak::monitor::smells::eager_step_in_loop
