// A debugger remembers the frame that it was last in, and that the locals.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

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

}  // namespace

extern const Smell smell;
const Smell smell{"XL412", "debugger_keeps_frames", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::debugger_keeps_frames
