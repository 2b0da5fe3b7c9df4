// A Lambda layer of Keras does much, or takes arrays, variables and layers from outside.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::heavy_lambda_layer {
namespace {

using source::Bound;
using source::Kind;

// One operation is what Lambda is for; two are still read at a glance.
constexpr std::size_t kManyCalls = 3;

Function function_of(const Call& lambda_layer) {
  const Expr given = lambda_layer.argument("function", 0);
  if (given.is(Kind::lambda)) {
    for (const Expr& parameter : given.all(Kind::parameters)) return parameter.function();
    return given.child(source::Field::body).function();
  }
  for (const PlaceBinding& binding : given.place().bindings()) {
    if (binding.how == Bound::function) return binding.target.child(source::Field::body).function();
  }
  return {};
}

bool makes_variable(const Expr& expression) {
  return expression.made_by().callee().is_dotted({"tensorflow.Variable", "keras.Variable"});
}

// Something with weights or data that the layer neither tracks nor saves.
bool is_heavy(const Expr& expression) {
  const ValueType type = expression.value().type;
  return type == ValueType::keras_model || type == ValueType::keras_layer ||
         makes_variable(expression) || tensorflow::is_large_array(expression);
}

Expr heavy_capture(const Function& function) {
  for (const Kind kind : {Kind::name, Kind::attribute}) {
    for (const Expr& used : function.body().all(kind)) {
      const Place place = used.place();
      if (place && !tensorflow::is_bound_in(place, function) && is_heavy(used)) return used;
    }
  }
  return {};
}

bool has_many_steps(const Function& function) {
  const Expr body = function.body();
  const bool is_long = body.is(Kind::block) && tensorflow::first_statement(body) &&
                       !tensorflow::first_statement(body).is(Kind::return_statement);
  return is_long || body.all(Kind::call).size() >= kManyCalls;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras")) return findings;
  for (const Call& layer : code.calls_to({"keras.layers.Lambda", "keras.Lambda"})) {
    const Function function = function_of(layer);
    if (!function) continue;
    if (const Expr capture = heavy_capture(function)) {
      findings.push_back(layer.finding("The function of this Lambda layer uses `" +
                                       std::string(capture.text()) +
                                       "` from outside: it stays alive with the model and is "
                                       "neither tracked, trained nor saved. "
                                       "Write a `Layer` that has it as an attribute."));
    } else if (has_many_steps(function) || !layer.loops().empty()) {
      Finding finding = layer.finding(
          "This Lambda layer does more than one step, or is made in a loop: its closure lives with "
          "the model, and cannot be saved. Write a `Layer` with a `call` instead.");
      finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::string message(const Holder& holder) {
  const std::string what =
      holder.count == 1 ? "The function of a Lambda layer"
                        : "The functions of " + std::to_string(holder.count) + " Lambda layers";
  return what + " captured " + human(holder.held_bytes) + ", the largest part a " + holder.largest +
         ": it lives as long as the model, and is neither tracked nor saved with it. Write a "
         "`Layer` that has it as a weight.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"lambda layers", "", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL517", "heavy_lambda_layer", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::heavy_lambda_layer
