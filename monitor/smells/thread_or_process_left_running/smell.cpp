// Each run of the cell starts one more, and nothing stops the former.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::thread_or_process_left_running {
namespace {

// Stacks, sockets and the memory of other processes are in no counter of this one.
constexpr std::int64_t kBytesUnknown = 0;
constexpr const char* kTitle = "Stop those of the earlier runs";

std::string started(const Holder& holder) {
  return "Each run of the cell started one more " + holder.label + ": " +
         std::to_string(holder.count) + " are running. ";
}

std::string threads_message(const Holder& holder) {
  return started(holder) +
         "Give each a `threading.Event` that it looks at, and type `stop.set(); thread.join()` "
         "before the next; a timer has `cancel()`, a server `shutdown()`.";
}

std::string processes_message(const Holder& holder) {
  return started(holder) + "Type `process.terminate(); process.wait()` (`join()` for one of " +
         "multiprocessing) before the next.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"threads", kTitle, threads_message, 0, kBytesUnknown});
  const auto more =
      holder_findings(session, {"processes", kTitle, processes_message, 0, kBytesUnknown});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

using source::Bound;
using source::Field;
using source::Kind;

List<Call> started_by(const SourceView& code) {
  return code.calls_to({"threading.Thread", "threading.Timer", "multiprocessing.Process",
                        "subprocess.Popen", "dask.distributed.Client",
                        "dask.distributed.LocalCluster", "distributed.Client",
                        "distributed.LocalCluster"});
}

// `process.stdout.read()` returns when it ends; whoever gets it may stop it.
bool may_stop(const Expr& use) {
  const Expr above = use.parent();
  const std::string_view attribute = above.is(Kind::attribute) ? above.name() : "";
  return attribute == "stdout" || attribute == "stderr" || above.is(Kind::with_block) ||
         above.is(Kind::as_pattern) || above.is(Kind::return_statement) || above.is(Kind::call) ||
         above.is(Kind::list) || above.is(Kind::keyword);
}

bool is_stopped(const Place& place) {
  const auto stops = place.calls_of({"join", "stop", "terminate", "close", "cancel", "kill", "wait",
                                     "shutdown", "communicate", "poll"});
  const auto uses = place.uses();
  return !stops.empty() || std::any_of(uses.begin(), uses.end(), may_stop);
}

bool is_stopped_in_loop(const SourceView& code, const Store& store) {
  for (const Call& call : code.calls_of({"join", "stop", "terminate", "kill", "wait", "cancel"})) {
    for (const Loop& loop : call.loops()) {
      if (loop.iterable().mentions(store.container.place())) return true;
    }
  }
  return false;
}

bool has_no_end(const Expr& loop) {
  return loop.child(Field::condition).is_true() && loop.all(Kind::break_statement).empty() &&
         loop.all(Kind::return_statement).empty() && loop.all(Kind::raise_statement).empty();
}

// What the thread runs has a loop that nothing ends.
bool runs_for_ever(const Call& thread) {
  if (!thread.callee().is_dotted({"threading.Thread", "multiprocessing.Process"})) return false;
  for (const PlaceBinding& binding : thread.argument("target", 1).place().bindings()) {
    if (binding.how != Bound::function) continue;
    const auto loops = binding.target.all(Kind::while_loop);
    if (std::any_of(loops.begin(), loops.end(), has_no_end)) return true;
  }
  return false;
}

bool is_of_cell(const Call& call) { return call.at_top_level() && !call.is_of_module(); }

// A program of a file ends with what it started, a module runs once; a cell runs again.
bool runs_again(const SourceView& code, const Call& call) {
  const auto sites = call.function().call_sites();
  return code.is_notebook() &&
         (is_of_cell(call) || std::any_of(sites.begin(), sites.end(), is_of_cell));
}

bool is_handed_on(const SourceView& code, const Call& call) {
  const Expr above = call.parent();
  if (above.is(Kind::with_block) || above.is(Kind::as_pattern) || above.is(Kind::return_statement))
    return true;
  for (const Store& store : code.stores()) {
    if (store.value != call && store.value.place() != call.target().place()) continue;
    if (store.value == call || store.value.place()) return is_stopped_in_loop(code, store);
  }
  // `Popen(…).wait()`
  return above.is(Kind::attribute) && above.name() != "start";
}

Finding finding_of(const Call& call) {
  const std::string what(call.callee().name());
  Finding finding = call.finding(
      "Each run of the cell starts one more `" + what +
      "`, and nothing stops the former: its stack, its arguments and what it has open stay. " +
      (what == "Thread" ? "Give it a `threading.Event` that it looks at, and type `stop.set()` "
                          "and `join()` before the next."
                        : "Keep its name, and stop it before the next."));
  if (!runs_for_ever(call)) finding.severity = Severity::note;
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call : started_by(code)) {
    if (!runs_again(code, call) || is_handed_on(code, call)) continue;
    if (call.target() && is_stopped(call.target().place())) continue;
    findings.push_back(finding_of(call));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL415", "thread_or_process_left_running", Severity::warning, at_run_time,
                  in_source};

}  // namespace xleak::monitor::smells::thread_or_process_left_running
