// A container that code behind the scenes fills and that nobody empties.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::growing_object_references {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " has grown to " + std::to_string(holder.count) + " elements and " +
         human(holder.held_bytes) +
         " over several executions; nothing takes any out or reads them. Free them with `" +
         holder.release + "`, and keep what you need in local variables.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"growing container", "Empty the container", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL105", "growing_object_references", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::growing_object_references
