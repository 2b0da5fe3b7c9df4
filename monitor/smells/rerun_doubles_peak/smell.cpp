// A cell run again builds a large value while the one of its last run still lives.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::rerun_doubles_peak {
namespace {

// From here on the next larger batch ends the kernel.
constexpr int kNearLimitPercent = 80;

std::string message(const Holder& holder) {
  return "While this cell ran again, the old value of `" + holder.label + "` lived until the new " +
         human(holder.held_bytes) +
         " were complete: for a moment both were there, and the process "
         "took " +
         std::to_string(holder.count) + " % of the memory. Write `" + holder.release +
         "` above the line that makes it, or run that before the cell.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"doubled peak", "Before the cell runs again", message, -1, 0});
  for (Finding& finding : findings) {
    for (const Holder& holder : session.holders) {
      const bool same = holder.kind == "doubled peak" && holder.label == finding.key;
      if (same && holder.count >= kNearLimitPercent) finding.severity = Severity::warning;
    }
  }
  return findings;
}

using source::Bound;
using source::Kind;

// Tokenizers and configurations take next to nothing.
bool is_small(std::string_view maker) {
  for (const std::string_view word : {"okenizer", "rocessor", "onfig", "xtractor", "cheduler"}) {
    if (maker.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool loads(const Call& call) {
  const std::string_view method = call.method();
  if (is_small(call.receiver().text())) return false;
  return method == "from_pretrained" || method == "load_from_checkpoint" ||
         call.callee().is_dotted({"torch.load", "torch.hub.load", "joblib.load", "numpy.load"});
}

// The innermost call of `Model.from_pretrained(name).to(device).eval()`.
Call origin_of(const Expr& value) {
  Call call = value.as_call();
  while (call.receiver().as_call()) call = call.receiver().as_call();
  return call;
}

// `del model` or `model = None` in the same iteration.
bool is_let_go(const Place& place, const Loop& loop) {
  for (const PlaceBinding& binding : place.bindings()) {
    if (!binding.target.is_inside(loop.body())) continue;
    if (binding.how == Bound::deleted || binding.value.is(Kind::none)) return true;
  }
  return false;
}

void add_rebound(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& statement : code.assignments()) {
    const Expr target = statement.child(source::Field::left);
    const Call made = origin_of(statement.child(source::Field::right));
    if (!statement.is(Kind::assign) || !target.is(Kind::name) || !made || !loads(made)) continue;
    const auto loops = statement.loops();
    if (loops.empty() || is_let_go(target.place(), loops.front())) continue;
    const std::string name(target.text());
    findings.push_back(statement.finding("In each iteration but the first the old `" + name +
                                         "` lives until the new one is loaded: for "
                                         "a moment both are there. Write `del " +
                                         name + "` at the end of the iteration."));
  }
}

// An optimizer has its model's Parameters and twice their size in moments.
void add_kept(const SourceView& code, std::vector<Finding>& findings) {
  if (!code.uses("torch.optim")) return;
  for (const Store& store : code.stores()) {
    if (store.value.value().type != ValueType::optimizer) continue;
    const Place container = store.container.place();
    if (!container || container.is_attribute() || store.site.loops().empty()) continue;
    if (code.is_bounded(store)) continue;
    findings.push_back(store.value.finding(
        "`" + std::string(store.container.text()) +
        "` keeps the optimizer of each run, and by that its model and two more of its size. Keep "
        "the numbers that the runs are compared by."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("transformers") && !code.uses("joblib")) return findings;
  add_rebound(code, findings);
  add_kept(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL411", "rerun_doubles_peak", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::rerun_doubles_peak
