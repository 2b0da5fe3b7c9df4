// Anomaly detection records where every operation came from; left on, it is paid for in each step.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::anomaly_mode_left_on {
namespace {

// Tracebacks live and go with the graphs: time is what is lost.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "Anomaly detection is still on after training: weights changed " +
         std::to_string(holder.count) +
         " times in cells that left it on. Every operation stores a traceback and every gradient "
         "is searched for NaN. Switch it off with `" +
         holder.release + "`, or use `with torch.autograd.detect_anomaly():` around one batch.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"anomaly mode", "Switch it off", message, 0, kBytesUnknown});
}

using source::Field;
using source::Kind;

bool is_training(const Call& call) {
  const std::string_view method = call.method();
  const std::string_view name = call.callee().name();
  const bool is_step = call.callee().is(Kind::name) || call.children().size() == 1;
  return method == "backward" || name == "fit" || name.substr(0, 5) == "train" ||
         (name == "step" && is_step);
}

bool trains(const SourceView& code, const Expr& spot) {
  for (const Call& call : code.calls_in(spot)) {
    if (is_training(call)) return true;
  }
  return false;
}

bool is_switched_off(const SourceView& code, const Call& on) {
  for (const Call& call : code.calls_to({"torch.autograd.set_detect_anomaly",
                                         "torch.autograd.anomaly_mode.set_detect_anomaly"})) {
    if (on < call && !call.argument("mode", 0).is_true()) return true;
  }
  return false;
}

// Something below it trains, or a function that is called below it does.
bool is_trained_after(const SourceView& code, const Call& on) {
  for (const Call& call : code.calls()) {
    if (!(on < call)) continue;
    if (is_training(call)) return true;
    for (const Function& function : call.callees()) {
      if (trains(code, function.body())) return true;
    }
  }
  return false;
}

void told(const Call& call, const std::string& message, std::vector<Finding>& findings) {
  findings.push_back(call.finding(message));
}

void left_on(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"torch.autograd.set_detect_anomaly",
                                         "torch.autograd.anomaly_mode.set_detect_anomaly"})) {
    if (!call.argument("mode", 0).is_true() || !call.is_discarded() || call.is_guarded()) continue;
    if (is_switched_off(code, call) || !is_trained_after(code, call)) continue;
    told(call,
         "Anomaly detection stays on for all that trains after this line: every operation stores a "
         "traceback and every gradient is searched for NaN, which takes a multiple of the time. "
         "Switch it on for the batch that fails alone.",
         findings);
    findings.back().fixes.push_back(
        {"Switch it off", "", {call.argument("mode", 0).replaced_by("False")}});
  }
}

bool has_training_loop(const Expr& body) {
  for (const Kind kind : {Kind::for_loop, Kind::while_loop}) {
    for (const Expr& loop : body.all(kind)) {
      for (const Expr& call : loop.all(Kind::call)) {
        if (call.as_call().method() == "step") return true;
      }
    }
  }
  return false;
}

void around_training(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call :
       code.calls_to({"torch.autograd.detect_anomaly", "torch.autograd.set_detect_anomaly",
                      "torch.autograd.anomaly_mode.detect_anomaly"})) {
    if (call.argument("mode", 0).is_false() || call.is_guarded()) continue;
    const Expr above = call.parent().is(Kind::as_pattern) ? call.parent().parent() : call.parent();
    if (!above.is(Kind::with_block) || !has_training_loop(above.child(Field::body))) continue;
    told(call,
         "A whole training loop runs under anomaly detection: every operation stores a traceback "
         "and every gradient is searched for NaN. Put it around the batch that fails.",
         findings);
  }
}

void stops_in_training(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call :
       code.calls_to({"builtins.breakpoint", "pdb.set_trace", "ipdb.set_trace",
                      "torch.autograd.gradcheck", "torch.autograd.gradgradcheck"})) {
    const auto loops = call.loops();
    if (loops.empty() || call.is_guarded()) continue;
    bool steps = false;
    for (const Expr& other : loops.front().body().all(Kind::call))
      steps |= other.as_call().method() == "step";
    if (!steps) continue;
    told(call,
         "`" + std::string(call.callee().text()) +
             "` runs in every step of the training. Put it under a condition, or take it out.",
         findings);
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  left_on(code, findings);
  around_training(code, findings);
  stops_in_training(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL211", "anomaly_mode_left_on", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::anomaly_mode_left_on
