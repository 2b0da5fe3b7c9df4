// The host waits for the device in each iteration of a training loop.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::sync_in_hot_loop {
namespace {

using source::Kind;

// One value an iteration for a log is the cure of other smells.
constexpr std::size_t kForTheLog = 1;

bool steps(const Call& call) {
  return call.method() == "step" && (call.receiver().value().type == ValueType::optimizer ||
                                     call.receiver().name().substr(0, 3) == "opt");
}

bool is_read(std::string_view method) {
  return method == "item" || method == "cpu" || method == "tolist" || method == "numpy";
}

// Detached or reshaped it is still there; once it was read it is on the host.
bool is_on_device(const Expr& value) {
  for (Expr at = value; at; at = at.as_call().receiver()) {
    if (is_read(at.as_call().method())) return false;
    const Value what = at.value();
    if (what.is_gradful() || (what.is_tensor() && what.on_device)) return true;
  }
  return false;
}

bool waits(const Call& call) {
  if (is_read(call.method())) return is_on_device(call.receiver());
  if (!call.callee().is_dotted({"builtins.print", "builtins.float"})) return false;
  const auto arguments = call.arguments();
  return std::any_of(arguments.begin(), arguments.end(), is_on_device);
}

bool empties_or_joins(const Call& call) {
  return call.callee().is_dotted({"torch.cuda.empty_cache", "torch.cuda.synchronize"});
}

bool measures_time(const Loop& loop) {
  for (const Expr& spot : loop.body().all(Kind::call)) {
    const std::string_view dotted = spot.as_call().callee().dotted();
    if (dotted.substr(0, 5) == "time." || dotted == "torch.cuda.Event") return true;
  }
  return false;
}

bool uses_device(const SourceView& code) {
  const auto moves = code.calls_of({"cuda", "to"});
  return std::any_of(moves.begin(), moves.end(),
                     [](const Call& call) { return call.moves_to_device(); });
}

Finding timed(const Call& call, std::string message) {
  Finding finding = call.finding(std::move(message));
  finding.timed_lines = {call.lines()};
  return finding;
}

void look_at(const Loop& loop, bool on_device, std::vector<Finding>& findings) {
  List<Call> waiting;
  for (const Expr& spot : loop.body().all(Kind::call)) {
    const Call call = spot.as_call();
    if (call.loops().empty() || call.loops().front() != loop || call.is_guarded()) continue;
    if (empties_or_joins(call) && !measures_time(loop)) {
      findings.push_back(timed(call, "`" + std::string(call.callee().text()) +
                                         "()` in each step: the host waits for the device, and an "
                                         "emptied cache is filled again. "
                                         "Call it between phases, if at all."));
    } else if (on_device && waits(call)) {
      waiting.push_back(call);
    }
  }
  if (waiting.size() <= kForTheLog) return;
  for (const Call& call : waiting) {
    findings.push_back(timed(
        call,
        "Each step waits here until the device has caught up, one of " +
            std::to_string(waiting.size()) +
            " such places. Sum up detached values on the device, and read them every hundredth "
            "step."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  List<Loop> seen;
  for (const Call& call : code.calls_of({"step"})) {
    const auto loops = call.loops();
    if (loops.empty() || !steps(call)) continue;
    if (std::find(seen.begin(), seen.end(), loops.front()) != seen.end()) continue;
    seen.push_back(loops.front());
    look_at(loops.front(), uses_device(code), findings);
  }
  return findings;
}

constexpr int kLeastPercent = 5;

std::string measured(const Holder& holder) {
  return "The host waits for the device in each step at " + holder.label + ": " + holder.largest +
         ". Read values of the device every hundredth step, and leave its cache alone.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, timed_lines("device sync", measured, kLeastPercent));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL609", "sync_in_hot_loop", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::sync_in_hot_loop
