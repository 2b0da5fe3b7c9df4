// Operations are added to the default graph in the loop that runs it.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::unbounded_graph_expansion {
namespace {

using source::Kind;

// A few iterations add what a reader can count.
constexpr long long kFewIterations = 8;

bool is_called_session(const Expr& receiver) {
  const std::string_view name = receiver.name();
  return name == "sess" || name == "session" || name == "_sess" || name == "_session";
}

bool is_session(const Expr& receiver) {
  const Call made = receiver.made_by();
  if (!made) return is_called_session(receiver);
  const Expr callee = made.callee();
  return callee.is_dotted({"tensorflow.Session", "tensorflow.InteractiveSession",
                           "tensorflow.get_default_session", "keras.backend.get_session",
                           "tensorflow.train.MonitoredSession",
                           "tensorflow.train.MonitoredTrainingSession"}) ||
         is_called_session(receiver);
}

bool runs_graph(const Call& call) {
  if (call.method() == "run") return is_session(call.receiver());
  return call.method() == "eval" && (call.keyword("feed_dict") || call.keyword("session"));
}

bool is_finalized(const SourceView& code) { return !code.calls_of({"finalize"}).empty(); }

bool adds_to_graph(const Call& call) {
  if (tensorflow::is_operation(call)) return true;
  const std::string_view method = call.method();
  if (method != "assign" && method != "assign_add" && method != "assign_sub") return false;
  return call.receiver().made_by().callee().is_dotted(
      {"tensorflow.Variable", "tensorflow.get_variable"});
}

// What runs again and again together with the run: the loop, or the function that a loop calls.
Expr repeated_body(const Call& run) {
  if (!tensorflow::repeats(run, kFewIterations)) return {};
  const auto loops = run.loops();
  return loops.empty() ? run.function().body() : loops.front().body();
}

// The first operation that the body itself, or a function that it calls, adds. A function may add
// it in its first call only.
Expr first_operation(const SourceView& code, const Expr& body) {
  for (const Call& call : code.calls_in(body)) {
    if (!adds_to_graph(call) || tensorflow::is_compiled(code, call)) continue;
    if (call.is_inside(body) || !call.is_guarded()) return call;
  }
  return {};
}

// Around the loop, in the function and where it is called.
bool is_isolated_around(const SourceView& code, const Call& run, const Expr& body) {
  if (tensorflow::clears_session(code, body)) return true;
  if (!run.loops().empty()) return false;
  for (const Call& site : run.function().call_sites()) {
    for (const Loop& loop : site.loops()) {
      if (tensorflow::clears_session(code, loop.body())) return true;
    }
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!tensorflow::is_graph_mode(code) || is_finalized(code)) return findings;
  Expr last_told;
  for (const Call& run : code.calls_of({"run", "eval"})) {
    if (!runs_graph(run)) continue;
    const Expr body = repeated_body(run);
    if (!body || body == last_told || is_isolated_around(code, run, body)) continue;
    const Expr operation = first_operation(code, body);
    if (!operation) continue;
    findings.push_back(operation.finding(
        "`" + std::string(operation.as_call().callee().text()) +
        "` adds to the default graph each time, and the graph never shrinks: memory grows and each "
        "`run` gets slower. Build it once with a placeholder, and feed what changes."));
    last_told = body;
  }
  return findings;
}

// Graphs lie outside of what is measured.
constexpr std::int64_t kBytesUnknown = 0;

std::string of_iterations(const Holder& holder) {
  return "A loop that runs a session added the same operation to the default graph at least " +
         std::to_string(holder.count) + " times; the graph has " + holder.largest +
         " operations now and keeps them. Build before the loop and feed a placeholder, in "
         "`with tf.Graph().as_default():`; `tf.compat.v1.reset_default_graph()` begins again.";
}

std::string of_runs(const Holder& holder) {
  return std::to_string(holder.count) +
         " runs of the cell each added their operations to the default graph, which has " +
         holder.largest +
         " now. Begin the cell with `tf.compat.v1.reset_default_graph()`, or build in "
         "`with tf.Graph().as_default():`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {{"graph of iterations", "", of_iterations, 0, kBytesUnknown},
                                   {"graph of runs", "", of_runs, 0, kBytesUnknown}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL516", "unbounded_graph_expansion", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::unbounded_graph_expansion
