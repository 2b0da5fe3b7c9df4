// The same model is built again and again at the top level, and nothing clears the last.
#include <map>

#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::session_pile_up {
namespace {

using source::Field;
using source::Kind;

// A first run and one more are how notebooks are written.
constexpr int kManyBuilds = 3;

// What comes from the same call is the same model; an empty Sequential() may become anything.
std::string recipe(const Expr& value) {
  const Call call = value.as_call();
  const bool is_empty = call.children().size() == 1;
  if (is_empty && call.callees().empty()) return {};
  return std::string(call.text());
}

bool is_build(const Expr& statement) {
  const Expr value = statement.child(Field::right);
  return statement.at_top_level() && statement.loops().empty() && value.is(Kind::call) &&
         !statement.is_guarded() && value.value().type == ValueType::keras_model;
}

bool loads(const Call& call) {
  return call.callee().is_dotted({"keras.models.load_model", "keras.saving.load_model",
                                  "keras.models.clone_model", "keras.Model", "keras.models.Model"});
}

bool is_trained(const Place& model) {
  return !model.calls_of({"fit", "compile", "train_on_batch", "predict"}).empty();
}

bool clears_between(const SourceView& code, const Expr& first, const Expr& last) {
  for (const Call& call : code.calls()) {
    if (call.callee().name() == "clear_session" &&
        ((first < call && call < last) || call.function()))
      return true;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras")) return findings;
  std::map<std::string, List<Expr>> builds;
  for (const Expr& statement : code.assignments()) {
    const Expr target = statement.child(Field::left);
    if (!target.place() || !is_build(statement)) continue;
    const Expr value = statement.child(Field::right);
    const std::string from = recipe(value);
    if (from.empty() || loads(value.as_call()) || !is_trained(target.place())) continue;
    auto& same = builds[std::string(target.text()) + " = " + from];
    same.push_back(statement);
    if (same.size() < kManyBuilds || clears_between(code, same.front(), statement)) continue;
    Finding finding = statement.finding(
        "`" + std::string(target.text()) + "` is built for the " + std::to_string(same.size()) +
        ". time and nothing cleared the ones before: they wait for the garbage collector, and the "
        "names of their layers count up. Call `keras.backend.clear_session()` first.");
    finding.severity = Severity::note;
    const std::string clear = tensorflow::clear_session_call(code);
    const auto edit = statement.line_before(clear);
    if (!clear.empty() && edit)
      finding.fixes.push_back({"Clear Keras's state first", "", {*edit}, /*safe=*/false});
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return std::to_string(holder.count) +
         " runs of the cell each trained new models, and of those that are gone TensorFlow's table "
         "of gradients keeps " +
         human(holder.held_bytes) +
         " of weights and optimizers for good: `clear_session()` does not free it. Build in a cell "
         "of its own, and train the model that is there.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(
      session, {"models of runs", "Take them out of TensorFlow's table of gradients", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL512", "session_pile_up", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::session_pile_up
