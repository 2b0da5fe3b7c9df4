// The traceback of the last error keeps the locals of every function that it went through.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::traceback_pins_frames {
namespace {

std::string message(const Holder& holder) {
  return "The traceback of the last error keeps " + human(holder.held_bytes) +
         " alive, most of it by " + holder.largest + "; no name reaches it. Free it with `" +
         holder.release + "`, or catch the error.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"traceback", "Let the traceback go", message});
}

using source::Kind;

bool is_last_error(const Expr& value) {
  return value.is_dotted({"sys.last_traceback", "sys.last_value", "sys.last_exc"});
}

Finding hint(Finding finding) {
  finding.message =
      "The last error's traceback is in use here: as long as it lives, so do the locals of every "
      "function that failed. Catch the error where it is expected; the next error lets this one "
      "go.";
  finding.severity = Severity::note;
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const MagicLine& magic : code.magics()) {
    if (magic.name == "tb") findings.push_back(hint(magic.finding("")));
  }
  if (!code.uses("sys")) return findings;
  for (const Call& call :
       code.calls_to({"traceback.walk_tb", "traceback.print_tb", "traceback.extract_tb",
                      "traceback.print_exception", "traceback.format_exception",
                      "traceback.format_tb", "traceback.clear_frames"})) {
    for (const Expr& argument : call.arguments()) {
      if (!is_last_error(argument) || call.callee().name() == "clear_frames") continue;
      findings.push_back(hint(call.finding("")));
      break;
    }
  }
  for (const Expr& statement : code.assignments()) {
    const Expr value = statement.child(source::Field::right);
    if (value.is(Kind::attribute) && is_last_error(value))
      findings.push_back(hint(value.finding("")));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL402", "traceback_pins_frames", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::traceback_pins_frames
