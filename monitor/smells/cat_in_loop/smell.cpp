// A tensor that is concatenated with itself in a loop is copied whole in each iteration.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::cat_in_loop {
namespace {

// What is copied goes at once: time is lost, and a second copy at the peak.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "In a loop " + holder.label + " ran " + std::to_string(holder.count) +
         " times: " + human(holder.held_bytes) +
         " that were there already were copied for a result of " + holder.largest +
         ". Append the parts to a list and concatenate once after the loop, or fill a tensor that "
         "has its full size from the start.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"grown by cat", "", message, 0, kBytesUnknown});
}

using source::Kind;

bool concatenates(const Call& call) {
  return call.callee().is_dotted({"torch.cat", "torch.stack", "torch.vstack", "torch.hstack",
                                  "torch.dstack", "torch.row_stack", "torch.column_stack",
                                  "numpy.concatenate", "numpy.vstack", "numpy.hstack",
                                  "numpy.dstack", "numpy.row_stack", "numpy.column_stack",
                                  "numpy.append", "numpy.stack", "tensorflow.concat"});
}

bool is_same(const Expr& part, const Expr& target) {
  if (target.place()) return part.place() == target.place();
  return part.kind() == target.kind() && part.text() == target.text();
}

// The target itself is one of the parts; a slice of it would be a window of constant size.
bool has_itself_as_part(const Call& call, const Expr& target) {
  const auto arguments = call.arguments();
  if (arguments.empty()) return false;
  if (is_same(arguments.front(), target)) return true;
  const Expr parts = arguments.front();
  if (!parts.is(Kind::list) && !parts.is(Kind::tuple)) return false;
  for (const Expr& part : parts.children()) {
    if (is_same(part, target)) return true;
  }
  return false;
}

// A size, a length and a comparison with None are no reading of the data.
bool is_reading(const Expr& use) {
  const Expr above = use.parent();
  if (above.is(Kind::comparison)) return false;
  if (above.is(Kind::attribute)) {
    return above.name() != "shape" && above.name() != "size" && above.name() != "append";
  }
  return !above.as_call().callee().is_dotted({"builtins.len", "builtins.print"});
}

// The loop, or the function that a loop calls, needs the whole in each iteration.
bool is_read_meanwhile(const Update& update, const Expr& iteration) {
  for (const Expr& use : update.target.root().place().uses()) {
    if (use.is_inside(iteration) && !use.is_inside(update.site) && is_reading(use)) return true;
  }
  return false;
}

// `if x is None: x = part` and `if …: x = part` before `else: x = cat([x, part])` say how it
// begins.
bool is_beginning(const Expr& binding, const Update& update) {
  for (Expr at = binding.parent(); at; at = at.parent()) {
    if (!at.is(Kind::if_branch)) continue;
    const Expr condition = at.child(source::Field::condition);
    if (update.site.is_inside(at) || !condition.all(Kind::none).empty()) return true;
  }
  return false;
}

bool starts_anew(const Update& update, const Expr& iteration) {
  const Place grown = update.target.root().place();
  for (const PlaceBinding& binding : grown.bindings()) {
    const bool fresh = binding.how == source::Bound::assign || binding.how == source::Bound::loop ||
                       binding.how == source::Bound::deleted;
    if (fresh && binding.target.is_inside(iteration) && !binding.target.is_inside(update.site) &&
        !is_beginning(binding.target, update) && !binding.value.mentions(grown)) {
      return true;
    }
  }
  return false;
}

// What one iteration runs: the body of the loop, or the function that is called in a loop.
Expr iteration_of(const Update& update) {
  const auto loops = update.site.loops();
  if (!loops.empty()) return loops.front().is_over_parts() ? Expr() : loops.front().body();
  if (!update.site.in_loop() || !update.target.root().place().outlives(update.site)) return {};
  return update.site.function().body();
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy") && !code.uses("tensorflow")) return findings;
  for (const Update& update : code.updates()) {
    const Call call = update.value.as_call();
    if (!concatenates(call) || !has_itself_as_part(call, update.target)) continue;
    const Expr iteration = iteration_of(update);
    if (!iteration || is_read_meanwhile(update, iteration) || starts_anew(update, iteration))
      continue;
    const std::string name = "`" + std::string(update.target.text()) + "`";
    Finding finding = update.site.finding(
        name +
        " is copied whole in each iteration of the loop: time grows with the square of the "
        "iterations. Append the parts to a list, and concatenate once.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL110", "cat_in_loop", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::cat_in_loop
