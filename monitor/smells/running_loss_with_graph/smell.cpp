// A sum of loss tensors remembers the graph of every term.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::running_loss_with_graph {
namespace {

std::string sums(const Holder& holder) {
  return holder.label + " was made of " + std::to_string(holder.count) + " forward passes: its " +
         holder.largest + " keeps " + human(holder.held_bytes) + " of their activations alive. ";
}

std::string of_numbers(const Holder& holder) {
  return sums(holder) + "Add the `.item()` of each term, or its `.detach()`.";
}

// `.item()` is of one number alone.
std::string of_tensors(const Holder& holder) {
  return sums(holder) + "Add the `.detach()` of each term.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  constexpr const char* kTitle = "Keep the value, cut its graph";
  return holder_findings(session,
                         {{"sums", kTitle, of_numbers}, {"sums of tensors", kTitle, of_tensors}});
}

// The parts of one loss, or a penalty over the weights of a model: the graph does not grow with
// data.
constexpr long long kParts = 8;

bool is_over_parts(const Loop& loop) {
  const auto iterations = loop.iterations();
  const std::string_view over = loop.iterable().as_call().method();
  return (iterations && *iterations <= kParts) || over == "parameters" ||
         over == "named_parameters" || over == "modules" || over == "named_modules" ||
         over == "children";
}

// It starts again in each iteration of the innermost loop.
bool is_fresh_in(const Loop& loop, const Update& update) {
  for (const PlaceBinding& binding : update.target.place().bindings()) {
    if (binding.how == source::Bound::assign && binding.target.is_inside(loop.body()) &&
        !binding.value.mentions(update.target.place())) {
      return true;
    }
  }
  return false;
}

// What the calls of its function hand over for a parameter; of any other term, itself.
List<Expr> given_for(const Expr& term) {
  const auto bindings = term.place().bindings();
  if (bindings.size() != 1 || bindings.front().how != source::Bound::parameter) return {term};
  const Function function = bindings.front().target.function();
  List<Expr> given;
  int position = function.is_method() ? -1 : 0;
  for (const Expr& parameter : function.parameters()) {
    for (const Call& site : function.call_sites()) {
      if (parameter.place() == term.place() && position >= 0)
        given.push_back(site.argument(parameter.name(), position));
    }
    ++position;
  }
  return given;
}

bool is_led_back(const SourceView& code, const Expr& term) {
  const auto given = given_for(term);
  return (term.place() && code.reaches_backward(term.place())) ||
         std::any_of(given.begin(), given.end(), [&](const Expr& value) {
           return value.place() && code.reaches_backward(value.place());
         });
}

// A call in the loop sets it back, or makes its object again.
bool is_begun_in(const Loop& loop, const Call& call, const Update& update) {
  for (const PlaceBinding& binding : call.receiver().place().bindings()) {
    if (binding.target.is_inside(loop)) return true;
  }
  for (const PlaceBinding& binding : update.target.place().bindings()) {
    const Function sets = binding.target.function();
    if (sets == update.site.function()) continue;
    for (const Call& site : sets.call_sites()) {
      if (site.is_inside(loop.body())) return true;
    }
  }
  return false;
}

// `meter.update(loss)` in a loop, where update() does `self.total += loss`.
bool is_fed_by_loop(const Update& update) {
  const Function function = update.site.function();
  const Place target = update.target.place();
  if (!function || !target || !target.outlives(update.site) || update.site.is_guarded())
    return false;
  for (const Call& site : function.call_sites()) {
    const auto loops = site.loops();
    if (loops.empty() || is_over_parts(loops.front())) continue;
    if (!is_begun_in(loops.front(), site, update)) return true;
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

bool goes_on(const Update& update) {
  const auto loops = update.site.loops();
  if (loops.empty()) return is_fed_by_loop(update);
  return !is_over_parts(loops.front()) && !is_fresh_in(loops.front(), update);
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
    if (is_led_back(code, term) || !is_returned(update)) terms.push_back(term);
  }
  return terms;
}

std::string without_graph(const Expr& term) {
  const bool is_sum = term.is(source::Kind::binary) || term.is(source::Kind::unary);
  const std::string text = is_sum ? "(" + std::string(term.text()) + ")" : std::string(term.text());
  return term.is_scalar() ? "`" + text + ".item()` or its `.detach()`" : "`" + text + ".detach()`";
}

Finding told(const SourceView& code, const Update& update, const List<Expr>& terms) {
  const Expr& term = terms.front();
  Finding finding = update.site.finding(
      "`" + std::string(update.target.text()) +
      "` sums up tensors with their graphs: each iteration of the loop stays in memory. Add " +
      without_graph(term) + ".");
  finding.severity = is_led_back(code, term) ? Severity::warning : Severity::error;
  Fix fix{"Add the value without its graph", ""};
  for (const Expr& each : terms) {
    for (const Expr& value : given_for(each)) {
      if (!value.value().is_gradful()) continue;
      const auto edit = value.detached();
      // A sum of which one part keeps its graph keeps them all.
      if (!edit) return finding;
      fix.edits.push_back(*edit);
    }
  }
  finding.fixes.push_back(std::move(fix));
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Update& update : code.updates()) {
    if (!update.is_sum() || !goes_on(update)) continue;
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
