// Each iteration of a loop builds and trains another Keras model, and nothing clears the last.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::keras_model_per_iteration {
namespace {

// What the loop itself calls, to build and to train.
bool runs_in(const SourceView& code, const Expr& spot, const Expr& body) {
  if (spot.is_inside(body)) return true;
  for (const Call& call : code.calls_in(body)) {
    for (const Function& function : call.callees()) {
      if (spot.is_inside(function)) return true;
    }
  }
  return false;
}

// Models that exist when the loop begins belong to the state that is cleared. A function may be
// called where any other one is.
bool has_other_models(const SourceView& code, const tensorflow::ModelPerTurn& model) {
  const Function function = model.site.function();
  if (function && function.call_sites().empty()) return true;
  for (const Expr& statement : code.assignments()) {
    const Expr value = statement.child(source::Field::right);
    const bool is_before = function || (statement < model.body && !statement.function());
    if (!is_before || !value.as_call() || value.value().type != ValueType::keras_model) continue;
    if (!runs_in(code, statement, model.body)) return true;
  }
  return false;
}

// A policy of precision, a seed, a distribution: Keras forgets them with the rest.
bool sets_state(const SourceView& code) {
  for (const Call& call : code.calls()) {
    const std::string_view dotted = call.callee().dotted();
    const std::string_view name = call.callee().name();
    if (dotted.substr(0, 6) != "keras.") continue;
    if (name.substr(0, 4) == "set_" || name.substr(0, 7) == "enable_" ||
        name.substr(0, 8) == "disable_")
      return true;
  }
  return false;
}

void add_fix(const SourceView& code, const tensorflow::ModelPerTurn& model, Finding& finding) {
  const std::string clear = tensorflow::clear_session_call(code);
  const auto edit = tensorflow::first_statement(model.body).line_before(clear);
  if (clear.empty() || !edit) return;
  const bool safe =
      !tensorflow::is_graph_mode(code) && !has_other_models(code, model) && !sets_state(code);
  finding.fixes.push_back({"Clear Keras's state at the head of the loop", "", {*edit}, safe});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  // On a GPU it is told as XL507.
  if (!code.uses("keras") || tensorflow::sets_up_gpu(code)) return findings;
  for (const tensorflow::ModelPerTurn& model : tensorflow::models_per_iteration(code)) {
    const bool is_graph = tensorflow::is_graph_mode(code);
    if (model.is_cleared) continue;
    // What eager code leaves is garbage, and that is gone with a collection.
    if (!is_graph && tensorflow::collects_garbage(code, model.body)) continue;
    const std::string name = "`" + std::string(model.target.text()) + "`";
    Finding finding = model.site.finding(
        name +
        " is another Keras model in each iteration, and nothing clears the last: a higher peak, as "
        "models "
        "wait for the garbage collector with their optimizers and compiled functions. Call "
        "`keras.backend.clear_session()` at the head of the loop, and delete and collect at its "
        "end.");
    if (is_graph) finding.severity = Severity::error;
    add_fix(code, model, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string of_lost(const Holder& holder) {
  return std::to_string(holder.count) +
         " models that the cell trained are gone, and TensorFlow's table of gradients keeps " +
         human(holder.held_bytes) +
         " of their weights and optimizers for good: neither `clear_session()` nor a collection "
         "frees it. Train one model again, from the weights that it began with, or each in a "
         "process of its own.";
}

std::string of_histories(const Holder& holder) {
  return std::to_string(holder.count) +
         " models are kept by the `History` of their training, as `" + holder.largest +
         "`, and by nothing else of yours: " + human(holder.held_bytes) +
         ". Keep its `history`, which has the numbers alone.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(
      session, {{"lost models", "Take them out of TensorFlow's table of gradients", of_lost},
                {"models of histories", "Take the models out of their histories", of_histories}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL501", "keras_model_per_iteration", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::keras_model_per_iteration
