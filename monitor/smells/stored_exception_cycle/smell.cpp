// A kept exception keeps its traceback, and that the locals of every function it went through.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::stored_exception_cycle {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") keeps " + human(holder.held_bytes) +
         " alive by its traceback: the locals of the functions that it went through. Free them "
         "with `" +
         holder.release + "`, or keep its text in its place.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"exception", "Keep the error without its frames", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL403", "stored_exception_cycle", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::stored_exception_cycle
