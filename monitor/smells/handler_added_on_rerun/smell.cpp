// A logger is one for the whole process: each run of the cell adds another handler to it.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::handler_added_on_rerun {
namespace {

// What a handler keeps lies mostly outside of the process's memory: open files, sockets.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "Each run of the cell added a handler to " + holder.label + ": " +
         std::to_string(holder.count) + " (" + holder.largest +
         ") are there, and each record is written by all of them. Remove those of the earlier runs "
         "with the fix, or add one only `if not logger.handlers`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(
      session, {"handlers", "Remove those of the earlier runs", message, 0, kBytesUnknown});
}

using source::Kind;

bool is_builtin_name(const Expr& name) {
  return name.is(Kind::string) || name.text() == "__name__";
}

// A logger that each run finds again: the root, or one with a fixed name.
bool is_lasting(const Expr& logger) {
  const Call call = logger.as_call() ? logger.as_call() : logger.made_by();
  if (!call || !call.callee().is_dotted({"logging.getLogger"})) {
    return logger.is_dotted({"logging.root"});
  }
  const Expr name = call.argument("name", 0);
  return !name || is_builtin_name(name);
}

bool is_same(const Expr& a, const Expr& b) {
  return a.place() ? a.place() == b.place() : a.text() == b.text();
}

// `for h in logger.handlers: logger.removeHandler(h)`, or the same handler is taken off again.
bool is_removed(const SourceView& code, const Call& add) {
  const auto removals = code.calls_of({"removeHandler"});
  const Expr handler = add.argument("hdlr", 0);
  return std::any_of(removals.begin(), removals.end(), [&](const Call& removal) {
    return is_same(removal.receiver(), add.receiver()) ||
           (handler.place() && removal.argument("hdlr", 0).place() == handler.place());
  });
}

// The code looks at the handlers that are there: a guard, or `logger.handlers.clear()`.
bool looks_at_handlers(const SourceView& code, const Call& add) {
  const auto guards = code.calls_of({"hasHandlers", "basicConfig"});
  for (const Call& guard : guards) {
    if (guard.method() == "hasHandlers") return true;
  }
  const Expr whole = add.function() ? Expr(add.function()) : add.enclosing(Kind::cell);
  for (const Expr& spot : whole.all(Kind::attribute)) {
    if (spot.name() == "handlers") return true;
  }
  return false;
}

bool runs_again(const SourceView& code, const Call& add) {
  // Several handlers in one loop are one setup; a function that is called in a loop is several.
  if (add.loops().empty() && add.in_loop()) return true;
  if (!code.is_notebook()) return false;
  const auto is_run_again = [](const Call& call) {
    return call.at_top_level() && !call.is_of_module();
  };
  const auto sites = add.function().call_sites();
  return is_run_again(add) || std::any_of(sites.begin(), sites.end(), is_run_again);
}

void add_guard(const Call& add, Finding& finding) {
  const Expr statement = add.statement();
  if (!add.is_discarded() || !add.receiver().place() || !add.loops().empty()) return;
  if (statement.text().find('\n') != std::string_view::npos) return;
  if (!statement.line_before("")) return;
  Edit edit = statement.replaced_by("if not " + std::string(add.receiver().text()) +
                                    ".handlers: " + std::string(statement.text()));
  finding.fixes.push_back({"Add it once", "", {edit}});
  finding.fixes.back().safe = false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& add : code.calls_of({"addHandler"})) {
    const bool in_constructor = add.function().name() == "__init__";
    if (!is_lasting(add.receiver()) || add.is_guarded()) continue;
    if (!in_constructor && !runs_again(code, add)) continue;
    if (is_removed(code, add) || looks_at_handlers(code, add)) continue;
    const Call made = add.argument("hdlr", 0).made_by();
    if (made && made.callee().is_dotted({"logging.NullHandler"})) continue;
    Finding finding = add.finding(
        "Loggers are one for the whole process: each run adds another handler to `" +
        std::string(add.receiver().text()) +
        "`, which stays with its file or buffer, and each record is written by all of them. Add "
        "it only `if not logger.handlers`.");
    if (in_constructor && !add.in_loop()) finding.severity = Severity::note;
    add_guard(add, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL406", "handler_added_on_rerun", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::handler_added_on_rerun
