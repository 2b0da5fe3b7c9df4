// A loop without a way out: its cell never ends, and what each iteration keeps has no bound.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::endless_loop {
namespace {

using source::Kind;

bool is_always(const Expr& condition) {
  if (condition.is(Kind::true_literal)) return true;
  const auto number = condition.integer();
  return number && *number != 0;
}

bool never_ends(const Loop& loop) {
  if (loop.is(Kind::while_loop)) return is_always(loop.child(source::Field::condition));
  if (!loop.is(Kind::for_loop)) return false;
  Expr iterable = loop.iterable();
  while (iterable.as_call().callee().is_dotted(
             {"builtins.enumerate", "tqdm.tqdm", "tqdm.auto.tqdm"}) &&
         !iterable.as_call().arguments().empty()) {
    iterable = iterable.as_call().arguments().front();
  }
  const Call call = iterable.as_call();
  if (call.callee().is_dotted({"itertools.cycle", "itertools.count"})) return true;
  return call.callee().is_dotted({"itertools.repeat"}) && call.arguments().size() == 1 &&
         !call.keyword("times");
}

bool ends_program(const Call& call) {
  return call.callee().is_dotted({"sys.exit", "os._exit", "os.abort", "os.kill"}) ||
         call.callee().name() == "exit" || call.callee().name() == "quit";
}

// Somebody else decides when it ends: a person, a peer, a queue, a clock.
bool waits(const Call& call) {
  const std::string_view name = call.callee().name();
  for (const std::string_view word :
       {"input", "recv", "accept", "sleep", "wait", "poll", "readline", "get", "get_nowait",
        "listen", "select", "next", "read", "join", "check", "should_stop", "put"}) {
    if (name == word) return true;
  }
  return name.find("recv") != std::string_view::npos || name.find("wait") != std::string_view::npos;
}

// A break of this loop, or anything that leaves it.
bool has_exit(const Loop& loop) {
  const Expr body = loop.body();
  for (const Expr& statement : body.all(Kind::break_statement)) {
    const auto loops = statement.loops();
    if (!loops.empty() && loops.front() == loop) return true;
  }
  for (const Kind kind : {Kind::return_statement, Kind::raise_statement, Kind::yield, Kind::await,
                          Kind::assert_statement}) {
    for (const Expr& statement : body.all(kind)) {
      if (statement.function() == loop.function()) return true;
    }
  }
  return false;
}

bool is_left_by_call(const SourceView& code, const Loop& loop) {
  for (const Call& call : code.calls_in(loop.body())) {
    if (ends_program(call) || waits(call)) return true;
    for (const Function& function : call.callees()) {
      if (!function.all(Kind::raise_statement).empty()) return true;
    }
  }
  return false;
}

// Training, or something that grows.
bool costs_memory(const SourceView& code, const Loop& loop) {
  for (const Call& call : code.calls_in(loop.body())) {
    if (call.method() == "backward" || call.method() == "fit" || call.method() == "train_on_batch")
      return true;
    if (call.value().is_tensor() || call.value().type == ValueType::tf_tensor) return true;
  }
  for (const Store& store : code.stores()) {
    if (store.site.is_inside(loop.body()) && !code.is_bounded(store)) return true;
  }
  return false;
}

// Whoever interrupts it is expected.
bool is_interrupted(const Loop& loop) {
  if (!loop.all(Kind::except_branch).empty()) return true;
  for (Expr at = loop.parent(); at; at = at.parent()) {
    if (at.is(Kind::try_block)) return true;
    if (at.is(Kind::function)) return false;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Loop& loop : code.loops()) {
    if (!never_ends(loop) || has_exit(loop)) continue;
    if (is_left_by_call(code, loop) || !costs_memory(code, loop)) continue;
    Finding finding = loop.finding(
        "This loop has no way out: no `break`, `return` or error ends it, and what its iterations "
        "keep "
        "grows for as long as it runs. Count the iterations, or leave it by a condition.");
    finding.timed_lines = {loop.lines()};
    if (is_interrupted(loop)) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string measured(const Holder& holder) {
  return "The loop at " + holder.label + " has run for " + std::to_string(holder.count) +
         " min without a way out, and the process grows by " + holder.largest + ": " +
         human(holder.held_bytes) +
         " so far. Interrupt the cell, and count the iterations or leave the loop by a condition.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"endless loop", "", measured, -1});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL303", "endless_loop", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::endless_loop
