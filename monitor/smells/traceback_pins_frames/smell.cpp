// The traceback of the last error keeps the locals of every function that it went through.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

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

}  // namespace

extern const Smell smell;
const Smell smell{"XL402", "traceback_pins_frames", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::traceback_pins_frames
