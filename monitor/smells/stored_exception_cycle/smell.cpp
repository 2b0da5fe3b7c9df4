// A kept exception keeps its traceback, and that the locals of every function it went through.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::stored_exception_cycle {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") keeps " + human(holder.held_bytes) +
         " alive by its traceback: the locals of the functions that it went through. Free them "
         "with `" +
         holder.release + "`, or keep its text in its place.";
}

std::string message_of_several(const Holder& holder) {
  return std::to_string(holder.count) + " errors in " + holder.label + " (" + holder.largest +
         ") keep " + human(holder.held_bytes) +
         " alive by their tracebacks: the locals of the functions that they went through. Free "
         "them with `" +
         holder.release + "`, or keep their texts in their place.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(
      session, {{"exception", "Keep the error without its frames", message},
                {"exceptions", "Keep the errors without their frames", message_of_several}});
}

using source::Bound;
using source::Field;
using source::Kind;

Expr caught_name(const Expr& handler) {
  const Expr what = handler.child(Field::item);
  if (!what.is(Kind::as_pattern)) return {};
  const Expr target = what.last_child();
  return target.is(Kind::as_target) ? target.first_child() : target;
}

// `error.__traceback__ = None` and `error.with_traceback(None)` let the frames go.
bool lets_frames_go(const Expr& handler, const Place& error) {
  for (const Expr& spot : handler.child(Field::body).all(Kind::attribute)) {
    const bool of_traceback = spot.name() == "with_traceback" || spot.name() == "__traceback__";
    if (of_traceback && spot.child(Field::object).place() == error) return true;
  }
  return false;
}

Finding told(const Expr& spot, const Expr& error, const std::string& keeper, Severity severity) {
  const std::string name(error.text());
  Finding finding = spot.finding(
      "`" + keeper + "` keeps `" + name +
      "`, its traceback, and by that the locals of every function that the error went through. "
      "Keep `repr(" +
      name + ")` in its place.");
  finding.severity = severity;
  finding.fixes.push_back({"Keep its text", "", {error.replaced_by("repr(" + name + ")")}});
  finding.fixes.back().safe = false;
  return finding;
}

// `failed[path] = error` with a path of each iteration adds as `append` does.
bool adds_each_iteration(const Store& store) {
  const auto loops = store.site.loops();
  return !store.index || std::any_of(loops.begin(), loops.end(),
                                     [&](const Loop& loop) { return loop.changes(store.index); });
}

// A container that goes on growing, or one name for the last error.
Severity severity_of(const SourceView& code, const Store& store) {
  const bool is_queue = store.site.as_call().method() == "put";
  const bool grows =
      adds_each_iteration(store) && !is_queue && store.site.in_loop() && !code.is_bounded(store);
  return grows ? Severity::warning : Severity::note;
}

void add_kept(const SourceView& code, const Expr& handler, std::vector<Finding>& findings) {
  const Expr name = caught_name(handler);
  const Place error = name.place();
  if (!error || lets_frames_go(handler, error)) return;
  const auto& stores = code.stores();
  const auto is_before = [](const Store& store, const Expr& spot) { return store.site < spot; };
  for (auto at = std::lower_bound(stores.begin(), stores.end(), handler, is_before);
       at != stores.end() && at->site.is_inside(handler); ++at) {
    const Store& store = *at;
    if (store.value.place() != error) continue;
    const Place container = store.container.place();
    if (!container.outlives(store.site) && !container.is_module_level()) continue;
    findings.push_back(told(store.site, store.value, std::string(store.container.text()),
                            severity_of(code, store)));
  }
}

bool is_kept_by_name(const Expr& statement) {
  const Place place = statement.child(Field::left).place();
  return place && (place.outlives(statement) || place.is_module_level());
}

Expr handler_around(const Expr& spot, const Place& error) {
  for (Expr handler = spot.enclosing(Kind::except_branch); handler;
       handler = handler.enclosing(Kind::except_branch)) {
    if (error && caught_name(handler).place() == error) return handler;
  }
  return {};
}

// `last_error = error`, `report = {"error": error}`.
void add_assigned(const Expr& handler, std::vector<Finding>& findings) {
  for (const Expr& statement : handler.child(Field::body).all(Kind::assign)) {
    if (statement.enclosing(Kind::except_branch) != handler || !is_kept_by_name(statement))
      continue;
    const Expr right = statement.child(Field::right);
    const bool wraps = right.is(Kind::dict) || right.is(Kind::tuple) || right.is(Kind::list);
    for (const Expr& part : wraps ? right.children() : List<Expr>{right}) {
      const Expr value = part.is(Kind::pair) ? part.child(Field::right) : part;
      if (!value.is(Kind::name)) continue;
      const Expr owner = handler_around(statement, value.place());
      if (!owner || lets_frames_go(owner, value.place())) continue;
      findings.push_back(
          told(statement, value, std::string(statement.child(Field::left).text()), Severity::note));
    }
  }
}

bool is_deleted(const Place& place) {
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [](const PlaceBinding& binding) { return binding.how == Bound::deleted; });
}

// `last = error` in the handler, and `raise last` behind it: the name is in a frame of its own
// traceback.
void add_raised(const Expr& handler, std::vector<Finding>& findings) {
  const Place error = caught_name(handler).place();
  const Function function = handler.function();
  if (!error || !function) return;
  for (const Expr& statement : handler.child(Field::body).all(Kind::assign)) {
    const Place local = statement.child(Field::left).place();
    if (statement.child(Field::right).place() != error || local.outlives(statement)) continue;
    if (!local || is_deleted(local)) continue;
    for (const Expr& raise : function.body().all(Kind::raise_statement)) {
      if (raise.children().empty() || raise.first_child().place() != local) continue;
      Finding finding = raise.finding(
          "`" + std::string(local.name()) +
          "` is in a frame of the traceback that it has: a cycle that keeps the locals of this "
          "function until the collector runs. Delete the name in a `finally`.");
      finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
}

// `type, error, trace = sys.exc_info()` in a function that is in the traceback itself.
void add_exc_info(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"sys.exc_info"})) {
    if (!call.target()) continue;
    Finding finding = call.finding(
        "`" + std::string(call.target().text()) +
        "` has the traceback, and the traceback has the frame of this very name: a cycle that "
        "keeps the frame's locals until the collector runs. Take `traceback.format_exc()`, or "
        "delete the name when done.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (code.handlers().empty()) return findings;
  for (const Expr& handler : code.handlers()) {
    add_kept(code, handler, findings);
    add_assigned(handler, findings);
    add_raised(handler, findings);
  }
  add_exc_info(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL403", "stored_exception_cycle", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::stored_exception_cycle
