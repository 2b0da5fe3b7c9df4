// A debugger remembers the frame that it was last in, and that the locals.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::debugger_keeps_frames {
namespace {

std::string message(const Holder& holder) {
  return "The debugger " + holder.label + " keeps " + human(holder.held_bytes) +
         " alive by the frames that it was last in; the next error does not free them. Type `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"debugger", "Let the frames go", message});
}

constexpr const char* kMessage =
    "A debugger keeps the frames that it was last in, with their locals, and the next error does "
    "not free them. Take this out once the error is found.";

// A bare `%pdb` turns it on as well. `%debug` is for once: what it keeps shows at run time.
bool starts_debugger(const MagicLine& magic) {
  return magic.name == "pdb" && magic.rest.find("off") == std::string::npos &&
         magic.rest.find('0') == std::string::npos;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const MagicLine& magic : code.magics()) {
    if (starts_debugger(magic)) findings.push_back(magic.finding(kMessage));
  }
  for (const Call& call :
       code.calls_to({"builtins.breakpoint", "pdb.set_trace", "pdb.post_mortem", "pdb.pm",
                      "ipdb.set_trace", "ipdb.post_mortem", "IPython.core.debugger.set_trace"})) {
    findings.push_back(call.finding(kMessage));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL412", "debugger_keeps_frames", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::debugger_keeps_frames
