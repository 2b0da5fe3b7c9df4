// A sum of loss tensors remembers the graph of every term.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::running_loss_with_graph {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " was made of " + std::to_string(holder.count) + " forward passes: its " +
         holder.largest + " keeps " + human(holder.held_bytes) +
         " of their activations alive. Add `loss.item()` or `loss.detach()` in place of the loss.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"sums", "Keep the value, cut its graph", message});
}

// The parts of one loss, or a penalty over the weights of a model: the graph does not grow with
// data.
constexpr long long kParts = 8;

bool is_over_parts(const Loop& loop) {
  const auto turns = loop.turns();
  const std::string_view over = loop.iterable().as_call().method();
  return (turns && *turns <= kParts) || over == "parameters" || over == "named_parameters" ||
         over == "modules" || over == "named_modules" || over == "children";
}

// It starts anew in each turn of the innermost loop.
bool is_fresh_in(const Loop& loop, const Update& update) {
  for (const PlaceBinding& binding : update.target.place().bindings()) {
    if (binding.how == source::Bound::assign && binding.target.is_inside(loop.body()) &&
        !binding.value.mentions(update.target.place())) {
      return true;
    }
  }
  return false;
}

// Of losses, or of one result a batch. Other loops are within a model, over its layers and steps.
bool is_over_batches(const SourceView& code, const Update& update, const Value& term) {
  if (update.site.function().name() == "forward" &&
      code.is_derived(update.site.class_definition(), {"torch.nn.Module"})) {
    return false;
  }
  if (term.loss) return true;
  for (const Loop& loop : update.site.loops()) {
    if (loop.is_over_data()) return true;
  }
  return false;
}

// Whoever called the function may lead it back.
bool is_returned(const Update& update) {
  for (const Expr& value : update.site.function().returned()) {
    if (value.mentions(update.target.place())) return true;
  }
  return false;
}

List<Expr> terms_with_graphs(const SourceView& code, const Update& update) {
  List<Expr> terms;
  for (const Expr& term : update.added) {
    const Value value = term.value();
    if (!value.is_gradful() || !is_over_batches(code, update, value)) continue;
    const bool was_led_back = term.place() && code.reaches_backward(term.place());
    if (was_led_back || !is_returned(update)) terms.push_back(term);
  }
  return terms;
}

Finding told(const SourceView& code, const Update& update, const List<Expr>& terms) {
  const Expr& term = terms.front();
  Finding finding = update.site.finding(
      "`" + std::string(update.target.text()) +
      "` sums up tensors with their graphs: each turn of the loop stays in memory. Add `" +
      std::string(term.text()) + ".item()` or its `.detach()`.");
  const bool was_led_back = term.place() && code.reaches_backward(term.place());
  finding.severity = was_led_back ? Severity::warning : Severity::error;
  Fix fix{"Add the value without its graph", ""};
  for (const Expr& each : terms) fix.edits.push_back(each.detached());
  finding.fixes.push_back(std::move(fix));
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Update& update : code.updates()) {
    const auto loops = update.site.loops();
    if (loops.empty() || !update.is_sum()) continue;
    if (is_over_parts(loops.front()) || is_fresh_in(loops.front(), update)) continue;
    const auto terms = terms_with_graphs(code, update);
    if (terms.empty() || update.site.may_be_under_no_grad()) continue;
    if (!code.reaches_backward(update.target.place()))
      findings.push_back(told(code, update, terms));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL203", "running_loss_with_graph", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::running_loss_with_graph
