// backward() adds to the gradients that are there; without a reset each step sees all batches
// before.
#include <algorithm>
#include <set>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::missing_zero_grad {
namespace {

using source::Field;
using source::Kind;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_optimizer(const Expr& expression) {
  const Value value = expression.value();
  if (value.type == ValueType::optimizer) return true;
  if (value.type != ValueType::unknown) return false;
  const std::string_view name = expression.name();
  return contains(name, "optim") || name == "opt";
}

// `optimizer.step()` or `scaler.step(optimizer)`; with a closure, the reset is the closure's.
Expr stepped_optimizer(const Call& call) {
  if (call.method() != "step") return {};
  const auto arguments = call.arguments();
  if (arguments.empty() && call.children().size() == 1)
    return is_optimizer(call.receiver()) ? call.receiver() : Expr();
  return arguments.size() == 1 && is_optimizer(arguments[0]) &&
                 contains(call.receiver().name(), "scaler")
             ? arguments[0]
             : Expr();
}

// zero_grad() by any name, `p.grad.zero_()`; what an unknown function does with the optimizer.
bool may_reset(const Call& call, const Expr& optimizer) {
  const Expr callee = call.callee();
  const std::string_view name = callee.name();
  if (contains(name, "zero") || contains(name, "clear_grad") || contains(name, "reset_grad"))
    return true;
  if (contains(callee.text(), ".grad.") && name.back() == '_') return true;
  if (!call.callees().empty() || contains(call.receiver().name(), "scaler")) return false;
  const bool is_known = !callee.dotted().empty() && contains(callee.dotted(), "torch.");
  for (const Expr& argument : call.arguments()) {
    if (!is_known && argument.place() && argument.place() == optimizer.place()) return true;
  }
  return false;
}

bool resets(const SourceView& code, const Expr& spot, const Expr& optimizer) {
  for (const Call& call : code.calls_in(spot)) {
    if (may_reset(call, optimizer)) return true;
  }
  return false;
}

// `p.grad = None`, `p.grad *= 0`: by hand, wherever it stands.
bool resets_by_hand(const SourceView& code) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    if (left.name() == "grad" || left.name() == "data") {
      if (contains(left.text(), ".grad")) return true;
    }
  }
  return false;
}

// The innermost loop that both run in.
Loop loop_of(const Call& backward, const Call& step) {
  for (const Loop& loop : backward.loops()) {
    if (step.is_inside(loop.body())) return loop;
  }
  return {};
}

// Loops around it, and around the calls of its function.
List<Expr> surroundings(const Call& backward, const Loop& loop) {
  List<Expr> result;
  for (const Loop& outer : loop ? loop.loops() : List<Loop>()) result.push_back(outer.body());
  if (loop) result.push_back(loop.body());
  const Function function = backward.function();
  if (!loop && function) result.push_back(function.body());
  for (const Call& site : function.call_sites()) {
    for (const Loop& outer : site.loops()) result.push_back(outer.body());
    if (!loop && site.function()) result.push_back(site.function().body());
  }
  return result;
}

// A base class elsewhere may do the rest in what `self` is asked for.
bool has_unknown_base(const Expr& class_definition) {
  if (!class_definition) return false;
  for (const Expr& base : class_definition.children()) {
    if (base.is(Kind::name) || base.is(Kind::attribute)) {
      bool is_known = base.name() == "object" || base.dotted().substr(0, 6) == "torch.";
      for (const PlaceBinding& binding : base.place().bindings())
        is_known |= binding.how == source::Bound::class_definition;
      if (!is_known) return true;
    }
  }
  return false;
}

// One that the function itself makes steps once in it.
bool is_made_for_one_step(const Call& step, const Expr& optimizer, const Loop& loop) {
  for (const PlaceBinding& binding : optimizer.place().bindings()) {
    const bool is_local = binding.how == source::Bound::assign && step.function() &&
                          binding.target.function() == step.function();
    if (is_local && (!loop || binding.target.is_inside(loop.body()))) return true;
  }
  return false;
}

bool iterations_once(const Loop& loop) {
  return loop && loop.iterations() && *loop.iterations() <= 1;
}

void offer_reset(const Expr& body, const Expr& optimizer, Finding& finding) {
  const auto edit =
      body.children().front().line_before(std::string(optimizer.text()) + ".zero_grad()");
  if (edit) finding.fixes.push_back({"Reset the gradients first", "", {*edit}, /*safe=*/false});
}

std::string message(const Expr& optimizer) {
  const std::string name(optimizer.text());
  return "`" + name +
         ".step()` follows `backward()` and nothing resets the gradients between two "
         "iterations: each step goes along the sum of all batches so far. Call `" +
         name + ".zero_grad()` first in each iteration.";
}

// The first of these in order that lies in the body.
Call first_in(const List<Call>& steps, const Expr& body, const Call& backward) {
  for (auto at = std::lower_bound(steps.begin(), steps.end(), body);
       at != steps.end() && at->is_inside(body); ++at) {
    if (at->function() == backward.function()) return *at;
  }
  return {};
}

// The step that this backward() leads to, in the same loop or the same function.
Call step_of(const List<Call>& steps, const Call& backward) {
  const auto loops = backward.loops();
  for (const Loop& loop : loops) {
    const Call step = first_in(steps, loop.body(), backward);
    if (step) return step;
  }
  if (!loops.empty() || !backward.function()) return {};
  const Call step = first_in(steps, backward.function().body(), backward);
  const bool follows = step && step.loops().empty() && backward < step;
  return follows && backward.in_loop() ? step : Call();
}

List<Call> optimizer_steps(const SourceView& code) {
  List<Call> steps;
  for (const Call& step : code.calls_of({"step"})) {
    if (stepped_optimizer(step)) steps.push_back(step);
  }
  return steps;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  std::set<std::uint32_t> told;
  if (!code.uses("torch")) return findings;
  const auto steps = optimizer_steps(code);
  if (steps.empty() || resets_by_hand(code)) return findings;
  for (const Call& backward : code.calls_of({"backward"})) {
    const Call step = step_of(steps, backward);
    if (!step || told.count(step.id()) != 0 || has_unknown_base(step.class_definition())) continue;
    const Expr optimizer = stepped_optimizer(step);
    const Loop loop = loop_of(backward, step);
    if (backward.receiver().place() == optimizer.place() || iterations_once(loop)) continue;
    if (is_made_for_one_step(step, optimizer, loop)) continue;
    const auto around = surroundings(backward, loop);
    bool is_reset = false;
    for (const Expr& spot : around) is_reset = is_reset || resets(code, spot, optimizer);
    if (is_reset || !told.insert(step.id()).second) continue;
    Finding finding = step.finding(message(optimizer));
    offer_reset(loop ? loop.body() : backward.function().body(), optimizer, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

// The gradients are as large as ever; what is in them is wrong.
constexpr std::int64_t kBytesUnknown = 0;

std::string message_of_steps(const Holder& holder) {
  return "`" + holder.label + "` stepped along gradients to which backward() added " +
         std::to_string(holder.count) +
         " times without a reset: each step goes along the sum of all batches so far. Call "
         "`zero_grad()` first in each iteration" +
         (holder.release.empty() ? "." : ", and `" + holder.release + "` now.");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule rule{"uncleared gradients", "Reset the gradients", message_of_steps, 0,
                        kBytesUnknown};
  return holder_findings(session, rule);
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL204", "missing_zero_grad", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::missing_zero_grad
