// Statement after statement makes a new tensor of the old one, though the old one is done with.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::out_of_place_chain {
namespace {

using source::Field;
using source::Kind;

// Two are read at a glance; from three on the peak is that of a chain.
constexpr std::size_t kChain = 3;

// Operations that have a twin which works in place.
bool has_twin(const Update& update) {
  if (update.value.is(Kind::binary)) {
    const source::Operator op = update.value.op();
    return op == source::Operator::add || op == source::Operator::subtract ||
           op == source::Operator::multiply || op == source::Operator::divide;
  }
  const Call call = update.value.as_call();
  const std::string_view name = call.callee().name();
  const bool of_torch = call.callee().dotted().substr(0, 6) == "torch.";
  const bool on_itself = call.receiver().place() == update.target.place();
  return (of_torch || on_itself) &&
         is_one_of(name, {"clamp", "clip", "abs",   "exp",   "log",  "sqrt",  "square",
                          "pow",   "add",  "sub",   "mul",   "div",  "relu",  "sigmoid",
                          "tanh",  "neg",  "floor", "round", "ceil", "log1p", "masked_fill"});
}

// The caller still owns a parameter, and another name may share it.
bool is_own(const Expr& target) {
  if (!target.is(Kind::name)) return false;
  for (const PlaceBinding& binding : target.place().bindings()) {
    if (binding.how != source::Bound::assign) return false;
    if (binding.value.is(Kind::name)) return false;
  }
  for (const Expr& use : target.place().uses()) {
    const Expr above = use.parent();
    if (above.is(Kind::assign) && above.child(Field::right) == use) return false;
  }
  return true;
}

bool has_no_graph(const Update& update) {
  if (update.site.under_no_grad()) return true;
  const Value made = update.value.value();
  return made.is_tensor() && made.graph == HasGraph::no && !update.target.value().is_gradful();
}

bool is_link(const Update& update) {
  return update.site.is(Kind::assign) && has_twin(update) && has_no_graph(update) &&
         is_own(update.target);
}

Expr next_statement(const Expr& statement) {
  const auto siblings = statement.parent().children();
  const auto at = std::find(siblings.begin(), siblings.end(), statement);
  return at == siblings.end() || at + 1 == siblings.end() ? Expr() : *(at + 1);
}

// `vol = …` is a statement of its own; its assignment is the node below.
bool follows(const Update& before, const Update& after) {
  return before.target.place() == after.target.place() &&
         next_statement(before.site.statement()) == after.site.statement();
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  const auto& updates = code.updates();
  for (std::size_t first = 0; first < updates.size();) {
    std::size_t last = first;
    while (last < updates.size() && is_link(updates[last]) &&
           (last == first || follows(updates[last - 1], updates[last]))) {
      ++last;
    }
    if (last - first >= kChain) {
      findings.push_back(updates[first].site.finding(
          "`" + std::string(updates[first].target.text()) + "` is made again by " +
          std::to_string(last - first) +
          " statements in a row: old and new lie side by side in memory. Work in place: "
          "`.sub_()`, `.div_()`, `.clamp_()`."));
    }
    first = std::max(last, first + 1);
  }
  return findings;
}

// The peak is over when it is told.
constexpr std::int64_t kNothingKept = 0;

std::string measured(const Holder& holder) {
  return holder.label + " was made again by " + std::to_string(holder.count) +
         " statements in a row: old and new were in memory at once, " + holder.largest +
         " each. Work in place: `.sub_()`, `.div_()`, `.clamp_()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"chain", "", measured, 0, kNothingKept});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL117", "out_of_place_chain", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::out_of_place_chain
