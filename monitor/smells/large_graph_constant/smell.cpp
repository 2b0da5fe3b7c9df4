// A big array becomes a constant of a graph: each trace copies it.
#include <algorithm>

#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::large_graph_constant {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// A name or attribute that the function neither makes nor gets.
bool is_from_outside(const Expr& operand) {
  const Place place = operand.place();
  const Function function = operand.function();
  if (!place || !function || !place.outlives(operand)) return false;
  const auto bindings = place.bindings();
  return std::none_of(bindings.begin(), bindings.end(), [&](const PlaceBinding& binding) {
    return binding.target.function() == function;
  });
}

// The array that the call takes into the graph.
Expr captured_array(const SourceView& code, const Call& call) {
  const bool takes = tensorflow::is_operation(call) ||
                     call.callee().is_dotted({"tensorflow.data.Dataset.from_tensor_slices",
                                              "tensorflow.data.Dataset.from_tensors"});
  if (!takes) return {};
  for (const Expr& operand : call.arguments()) {
    if (!operand.is(Kind::name) && !operand.is(Kind::attribute)) continue;
    if (is_from_outside(operand) && tensorflow::is_large_array(operand) &&
        tensorflow::becomes_graph(code, call))
      return operand;
  }
  return {};
}

bool is_used_in_graphs_only(const SourceView& code, const Place& array) {
  const auto uses = array.uses();
  return std::all_of(uses.begin(), uses.end(),
                     [&](const Expr& use) { return tensorflow::becomes_graph(code, use); });
}

// As a variable the array is an input of every graph.
void add_fix(const SourceView& code, const Call& call, const Expr& array, Finding& finding) {
  const std::string tf(code.imported_as("tensorflow"));
  const auto bindings = array.place().bindings();
  if (tf.empty() || bindings.size() != 1 || bindings.front().how != Bound::assign) return;
  if (!is_used_in_graphs_only(code, array.place())) return;
  const Expr value = bindings.front().value;
  std::vector<Edit> edits = {
      value.replaced_by(tf + ".Variable(" + std::string(value.text()) + ", trainable=False)")};
  const bool only_converts =
      call.callee().is_dotted({"tensorflow.constant", "tensorflow.convert_to_tensor"}) &&
      call.arguments().size() == 1 && !call.keyword("dtype");
  if (only_converts) edits.push_back(call.replaced_by(std::string(array.text())));
  finding.fixes.push_back({"Keep it in a variable", "", edits, /*safe=*/false});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const bool has_graphs = code.uses("tensorflow.function") || code.uses("keras.layers.Layer") ||
                          code.uses("keras.Model");
  if (!code.uses("tensorflow") || !code.uses("numpy") || !has_graphs) return findings;
  for (const Call& call : code.calls()) {
    const Expr array = captured_array(code, call);
    if (!array) continue;
    Finding finding = call.finding(
        "`" + std::string(array.text()) +
        "` becomes a constant of the graph: every trace copies the whole array, several times "
        "while "
        "it is traced. Keep it in a `tf.Variable(..., trainable=False)`, or hand it over as an "
        "argument.");
    add_fix(code, call, array, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  const std::string graphs =
      holder.count == 1 ? "its graph" : "its " + std::to_string(holder.count) + " graphs";
  return "`" + holder.label + "` has " + human(holder.held_bytes) + " of constants in " + graphs +
         " (largest: " + holder.largest +
         "); TensorFlow keeps several more copies on the side. Pass the array as an argument, or "
         "make it a `tf.Variable` before the function.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"graph constants", "", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL515", "large_graph_constant", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::large_graph_constant
