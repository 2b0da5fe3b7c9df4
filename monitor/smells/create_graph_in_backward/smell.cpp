// backward(create_graph=True) leaves gradients that keep the graph which keeps their Parameters.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::create_graph_in_backward {
namespace {

constexpr const char* kInstead = " Use `torch.autograd.grad(..., create_graph=True)`.";

std::string of_an_owner(const Holder& holder) {
  return holder.largest + " of " + holder.label + " kept by `backward(create_graph=True)` with " +
         human(holder.held_bytes) + " of graph. Let go of them with `" + holder.release +
         "` before you delete the model: afterwards no collection frees it." + kInstead;
}

std::string of_nobody(const Holder& holder) {
  return holder.largest + " kept by `backward(create_graph=True)`, with " +
         human(holder.held_bytes) +
         " of graph and Parameters, though no name reaches them: a cycle that no collection frees. "
         "Free them with `" +
         holder.release + "`." + kInstead;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"gradients with a graph", "Let go of the gradients", of_an_owner});
  const auto orphaned =
      holder_findings(session, {"orphaned gradients", "Free what nobody reaches", of_nobody});
  findings.insert(findings.end(), orphaned.begin(), orphaned.end());
  return findings;
}

bool sets_none(const Call& call) {
  return call.method() == "zero_grad" && !call.argument("set_to_none", 0).is_false();
}

bool is_none_assigned_to_grad(const Expr& statement) {
  const Expr left = statement.child(source::Field::left);
  return left.is(source::Kind::attribute) && left.name() == "grad" &&
         statement.child(source::Field::right).is(source::Kind::none);
}

enum class LetGo { never, next_iteration, at_once };

// Gradients go after the pass, or at the start of the next iteration: then one graph at a time
// stays.
LetGo let_go_by(const Expr& reset, const Call& backward) {
  const auto loops = backward.loops();
  if (loops.empty()) return backward < reset && !reset.function() ? LetGo::at_once : LetGo::never;
  if (!reset.is_inside(loops.front().body())) return LetGo::never;
  return backward < reset ? LetGo::at_once : LetGo::next_iteration;
}

LetGo let_go(const SourceView& code, const Call& backward) {
  LetGo best = LetGo::never;
  for (const Call& call : code.calls_of({"zero_grad"})) {
    if (sets_none(call)) best = std::max(best, let_go_by(call, backward));
  }
  for (const Expr& statement : code.assignments()) {
    if (is_none_assigned_to_grad(statement)) best = std::max(best, let_go_by(statement, backward));
  }
  return best;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call : code.calls_of({"backward"})) {
    const bool is_function = call.callee().is_dotted({"torch.autograd.backward"});
    if (!call.argument("create_graph", is_function ? 3 : 2).is(source::Kind::true_literal))
      continue;
    const LetGo released = let_go(code, call);
    if (released == LetGo::at_once) continue;
    Finding finding = call.finding(
        "`backward(create_graph=True)` leaves gradients that keep the graph that keeps their "
        "Parameters: a cycle that no collection frees." +
        std::string(kInstead));
    if (!call.in_loop()) finding.severity = Severity::warning;
    if (released == LetGo::next_iteration) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL205", "create_graph_in_backward", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::create_graph_in_backward
