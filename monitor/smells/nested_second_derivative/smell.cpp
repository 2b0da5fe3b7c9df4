// A graph of the last derivative is built, and nothing ever goes back through it.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::nested_second_derivative {
namespace {

using source::Bound;
using source::Kind;

// How far a derivative is followed: du = grad(u, x); part = du[:, 0]; total = part.sum().
constexpr int kSteps = 4;

bool is_gradient(const Call& call) {
  return call && call.callee().is_dotted({"torch.autograd.grad"}) &&
         call.argument("create_graph", 4).is(Kind::true_literal);
}

// It was made of another gradient with a graph.
bool leads_to_gradient(const Expr& value, int depth) {
  if (!value || depth > kSteps) return false;
  for (const Expr& call : value.all(Kind::call)) {
    if (is_gradient(call.as_call())) return true;
  }
  for (const Expr& name : value.all(Kind::name)) {
    for (const PlaceBinding& binding : name.place().bindings()) {
      const bool is_before = binding.how == Bound::assign && binding.target < name &&
                             binding.target.function() == name.function();
      if (is_before && leads_to_gradient(binding.value, depth + 1)) return true;
    }
  }
  return false;
}

// Somebody may lead it back: in this program, or whoever gets it from this function.
bool may_be_led_back(const SourceView& code, const Call& call) {
  if (!code.calls_of({"backward"}).empty()) return true;
  for (const Call& other : code.calls_to({"torch.autograd.backward"})) {
    if (other) return true;
  }
  for (const Expr& value : call.function().returned()) {
    if (value.value().graph != HasGraph::no) return true;
  }
  return false;
}

// A third derivative is taken of it.
bool is_differentiated(const SourceView& code, const Call& call) {
  for (const Call& later : code.calls_to({"torch.autograd.grad"})) {
    if (!(call < later) || later.function() != call.function()) continue;
    const Expr what = later.argument("outputs", 0);
    for (Expr at = call; at; at = at.parent()) {
      const Expr left = at.is(Kind::assign) ? at.child(source::Field::left) : Expr();
      if (left.place() && what.mentions(left.place())) return true;
      for (const Expr& element : left.children()) {
        if (element.place() && what.mentions(element.place())) return true;
      }
    }
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call : code.calls_to({"torch.autograd.grad"})) {
    if (!is_gradient(call) || !leads_to_gradient(call.argument("outputs", 0), 0)) continue;
    if (may_be_led_back(code, call) || is_differentiated(code, call)) continue;
    Finding finding = call.finding(
        "This second derivative is made with `create_graph=True`, and nothing goes back through "
        "it: one more graph is built and kept with the result. Write `retain_graph=True` in its "
        "place.");
    if (call.in_loop()) finding.severity = Severity::warning;
    const Expr flag = call.keyword("create_graph").parent();
    if (flag.is(Kind::keyword) && !call.keyword("retain_graph")) {
      finding.fixes.push_back(
          {"Build no third graph", "", {flag.replaced_by("retain_graph=True")}});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return holder.label + " is a derivative of a derivative, made with `create_graph=True`: its " +
         holder.largest + " keeps " + human(holder.held_bytes) +
         " alive, and nothing went back through it. Write `retain_graph=True` for the last "
         "derivative.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule rule{"last derivatives", "Keep the value, cut its graph", message};
  return holder_findings(session, rule.as(Severity::warning));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL209", "nested_second_derivative", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::nested_second_derivative
