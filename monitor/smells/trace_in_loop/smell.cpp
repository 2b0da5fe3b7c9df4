// What is traced stays in the process, in a place that nothing empties; a loop adds to it each
// iteration.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::trace_in_loop {
namespace {

using source::Kind;

// A few sizes or variants, each traced once, are a list that a reader can see.
constexpr long long kFewIterations = 4;
// Fewer dropped traces are no repetition.
constexpr int kFewTraces = 3;

bool is_test(const Call& call) { return call.function().name().substr(0, 4) == "test"; }

// An unguarded trace in an outer condition runs as seldom as that: `if is_last: for m in …`.
bool is_rare(const Call& call) {
  if (call.is_guarded()) return true;
  for (const Loop& loop : call.loops()) {
    if (loop.is_guarded()) return true;
  }
  return false;
}

// The same model and the same example in each iteration.
bool repeats_itself(const Call& call) {
  for (const Loop& loop : call.loops()) {
    for (const Expr& argument : call.children()) {
      if (argument != call.callee() && loop.changes(argument)) return false;
    }
  }
  return !call.loops().empty();
}

// A script is kept once for a module that is the same; exports of different models differ.
Severity severity_of(const Call& call) {
  if (call.callee().is_dotted({"torch.jit.script"})) return Severity::note;
  const bool is_trace =
      call.callee().is_dotted({"torch.jit.trace", "torch.jit.trace_module", "torch.jit.freeze"});
  if (repeats_itself(call)) return is_trace ? Severity::error : Severity::warning;
  return is_trace && !call.loops().empty() ? Severity::warning : Severity::note;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  Call told;
  for (const Call& call : code.calls_to(
           {"torch.jit.trace", "torch.jit.trace_module", "torch.jit.freeze", "torch.jit.script",
            "torch.onnx.export", "torch.export.export", "torch._dynamo.export"})) {
    if (!call.in_loop() || is_rare(call) || call.loops_run_at_most(kFewIterations) || is_test(call))
      continue;
    // freeze(trace(model, example)) is one.
    if (call.is_inside(told)) continue;
    told = call;
    Finding finding =
        call.finding("`" + std::string(call.callee().text()) +
                     "` runs in each iteration of a loop. Its functions and constants stay in the "
                     "process for good: only a restart of the kernel frees them. " +
                     (repeats_itself(call) ? "Call it once, before the loop."
                                           : "Keep one result for each variant, or run it in a "
                                             "process of its own."));
    finding.severity = severity_of(call);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " functions that were traced and dropped keep " +
         human(holder.held_bytes) +
         " of constants in TorchScript's compilation unit. Only a restart of the kernel frees "
         "them: trace once before the loop, or in a process of its own.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"traces", "", message, kFewTraces - 1});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL301", "trace_in_loop", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::trace_in_loop
