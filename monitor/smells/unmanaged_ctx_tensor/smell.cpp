// A tensor kept as an attribute of an autograd function's context outlives the way back.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::unmanaged_ctx_tensor {
namespace {

// Fewer results are as likely in use as kept.
constexpr int kSeveral = 3;
constexpr const char* kInstead = " Give tensors to `ctx.save_for_backward` in place of attributes.";

std::string of_garbage(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " is the object that it starts from, a reference cycle of an output and its context (" +
         std::to_string(holder.count) + " in all). Collect them with `import gc; gc.collect()`." +
         kInstead;
}

std::string of_results(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) + " alive by " + holder.largest +
         " of its graph, which backward() does not free. Let go of it with `" + holder.release +
         "`." + kInstead;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"cycle of a context", "Collect the garbage now", of_garbage});
  for (const Holder& holder : session.holders) {
    SessionView one;
    one.cell = session.cell;
    one.holders = {holder};
    for (Finding& finding : holder_findings(
             one, {"context of results", "Take the graphs, keep the values", of_results})) {
      if (holder.count < kSeveral) finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

using source::Field;
using source::Kind;

// ctx.NAME = value
struct Kept {
  Expr attribute, value;
};

void collect(const Expr& left, const Expr& right, const Place& context, std::vector<Kept>& kept) {
  if (left.is(Kind::tuple) && right.is(Kind::tuple)) {
    const auto names = left.children(), values = right.children();
    for (std::size_t i = 0; i < names.size() && names.size() == values.size(); ++i)
      collect(names[i], values[i], context, kept);
  } else if (left.is(Kind::attribute) && left.child(Field::object).place() == context) {
    kept.push_back({left, right.is(Kind::assign) ? right.child(Field::right) : right});
  }
}

std::vector<Kept> kept_by(const SourceView& code, const Function& function, const Place& context) {
  std::vector<Kept> kept;
  for (const Expr& statement : code.assignments()) {
    if (statement.is(Kind::assign) && statement.function() == function && context)
      collect(statement.child(Field::left), statement.child(Field::right), context, kept);
  }
  return kept;
}

bool is_same(const Expr& returned, const Kept& kept) {
  const Place place = returned.place();
  return place && (place == kept.attribute.place() || place == kept.value.place());
}

bool is_output(const Function& function, const Kept& kept) {
  const auto parameters = function.parameters();
  if (function.name() == "setup_context")
    return parameters.size() == 3 && kept.value.place() == parameters[2].place();
  for (const Expr& returned : function.returned()) {
    if (is_same(returned, kept)) return true;
    if (!returned.is(Kind::tuple)) continue;
    for (const Expr& element : returned.children()) {
      if (is_same(element, kept)) return true;
    }
  }
  return false;
}

// The first input always is one; others show it by what is done with them.
bool is_tensor_input(const Function& function, const Kept& kept) {
  const auto parameters = function.parameters();
  for (std::size_t i = 1; i < parameters.size(); ++i) {
    if (!kept.value.is(Kind::name) || parameters[i].place() != kept.value.place()) continue;
    if (i == 1) return function.name() == "forward";
    for (const Expr& use : kept.value.place().uses()) {
      const Expr above = use.parent();
      if (above.is(Kind::attribute)) return true;
      if (above.as_call() && above.as_call().callee().dotted().substr(0, 6) == "torch.")
        return true;
    }
  }
  return false;
}

bool is_plain(const Value& value) { return value.type != ValueType::unknown && !value.is_tensor(); }

void judge(const SourceView& code, const Function& function, std::vector<Finding>& findings) {
  const auto parameters = function.parameters();
  if (parameters.empty()) return;
  for (const Kept& kept : kept_by(code, function, parameters.front().place())) {
    if (is_plain(kept.value.value()) || kept.value.is_literal()) continue;
    const bool output = is_output(function, kept);
    if (!output && !is_tensor_input(function, kept)) continue;
    Finding finding = kept.attribute.finding(
        "`" + std::string(kept.attribute.text()) +
        (output ? "` keeps an output, whose graph keeps the context: a cycle that waits for the "
                  "garbage collector."
                : "` keeps an input that backward() does not free: it stays for as long as the "
                  "result does.") +
        kInstead);
    if (!output) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

bool has_outputs_without_graph(const SourceView& code, const Expr& class_definition) {
  for (const Call& call : code.calls_of({"mark_non_differentiable"})) {
    if (call.is_inside(class_definition)) return true;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Expr& definition : code.classes()) {
    if (!code.is_derived(definition, {"torch.autograd.Function", "torch.autograd.function.Function",
                                      "torch.autograd.function.InplaceFunction"}) ||
        has_outputs_without_graph(code, definition)) {
      continue;
    }
    for (const Function& function : code.functions()) {
      const bool saves = function.name() == "forward" || function.name() == "setup_context";
      if (saves && function.is_method() && function.class_definition() == definition)
        judge(code, function, findings);
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL210", "unmanaged_ctx_tensor", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::unmanaged_ctx_tensor
