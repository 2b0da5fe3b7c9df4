// A cached method keeps every object that it was called on.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::cached_method_keeps_self {
namespace {

std::string message(const Holder& holder) {
  return "The cache of " + holder.label + " keeps " + std::to_string(holder.count) + " " +
         holder.largest + (holder.count == 1 ? " object" : " objects") + " and " +
         human(holder.held_bytes) + " alive; nothing else does. Free them with `" + holder.release +
         "`, or give each object a cache of its own.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"method cache", "Empty the cache", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL404", "cached_method_keeps_self", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::cached_method_keeps_self
