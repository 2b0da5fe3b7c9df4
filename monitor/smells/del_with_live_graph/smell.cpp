// A tensor that a graph has saved outlives its name.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::del_with_live_graph {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " are still alive after their name was deleted: " + holder.largest +
         ". Detach what was made of it, or take its `.item()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"deleted", "Cut the graph that holds it", message});
}

using source::Field;
using source::Kind;

// A later binding takes the old value from the name.
bool is_deleted_too(Place derived, const Expr& deletion) {
  for (const PlaceBinding& binding : derived.bindings()) {
    const bool frees = binding.how == source::Bound::deleted || binding.value.is(Kind::none);
    if (frees && binding.target.statement() == deletion.statement()) return true;
  }
  return false;
}

bool is_used_after(Place place, const Expr& deletion) {
  for (const Expr& use : place.uses()) {
    if (deletion < use && use.function() == deletion.function()) return true;
  }
  return false;
}

// The graph of a mean or sum needs nothing of what it was taken of, but the operation that made
// that may need its result.
bool is_needed(const Expr& use, const Expr& name) {
  const Call reduced = use.parent().parent().as_call();
  const bool is_linear = is_one_of(reduced.method(), {"mean", "sum"}) && reduced.receiver() == use;
  return !is_linear ||
         is_one_of(name.made_by().callee().name(),
                   {"exp", "log_softmax", "relu", "sigmoid", "softmax", "sqrt", "tanh"});
}

// The name that keeps the graph of the deleted one alive: `score = grown.sum()`.
Expr holder_of(const SourceView& code, const Expr& name) {
  for (const Expr& use : name.place().uses()) {
    const Expr assignment = use.assignment();
    const Expr target = assignment.child(Field::left);
    if (!(use < name) || !target.is(Kind::name)) continue;
    if (target.place() == name.place() || use.function() != name.function()) continue;
    if (!assignment.child(Field::right).value().is_gradful()) continue;
    if (!is_needed(use, name)) continue;
    if (code.reaches_backward(target.place()) || is_deleted_too(target.place(), name)) continue;
    // What a function made is gone with it.
    if (!name.function() || is_used_after(target.place(), name)) return target;
  }
  return {};
}

void judge(const SourceView& code, const Expr& name, std::vector<Finding>& findings) {
  if (!name.is(Kind::name) || !name.loops().empty() || !name.value().is_gradful()) return;
  const Expr holder = holder_of(code, name);
  if (!holder) return;
  Finding finding =
      name.finding("`" + std::string(name.text()) + "` may stay in memory: the graph of `" +
                   std::string(holder.text()) +
                   "` was made of it. Take `.item()` or `.detach()` of that, or compute under "
                   "`torch.no_grad()`.");
  finding.severity = Severity::note;
  findings.push_back(std::move(finding));
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Expr& statement : code.deletions()) {
    for (const Expr& name : statement.all(Kind::name)) judge(code, name, findings);
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL108", "del_with_live_graph", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::del_with_live_graph
