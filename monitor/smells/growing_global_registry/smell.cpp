// A registry that objects enter when they are made and never leave.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::growing_global_registry {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) + " entries, of type " +
         holder.largest + ", and alone keeps " + human(holder.held_bytes) +
         " of what earlier runs made. Free it with `" + holder.release +
         "`, and register in a weakref.WeakSet.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"growing registry", "Empty the registry", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL409", "growing_global_registry", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::growing_global_registry
