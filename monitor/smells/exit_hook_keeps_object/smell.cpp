// What a callback for the end is bound to lives until the end.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::exit_hook_keeps_object {
namespace {

std::string finalizers_message(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) + " " + holder.largest +
         (holder.count == 1 ? " object" : " objects") + " and " + human(holder.held_bytes) +
         " alive: the callback owns the object whose end it waits for. The fix frees them, and the "
         "callback is not run. Hand it what it needs, not the object.";
}

std::string hooks_message(const Holder& holder) {
  return std::to_string(holder.count) + (holder.count == 1 ? " callback" : " callbacks") +
         " at exit to " + holder.largest + (holder.count == 1 ? " keeps " : " keep ") +
         human(holder.held_bytes) +
         " alive until the process ends; nothing else does. Use `weakref.finalize` with a free "
         "function, or keep a name for the callback and type `atexit.unregister(callback)`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"finalizers", "Take the finalizers back", finalizers_message});
  const auto more = holder_findings(session, {"exit hooks", "", hooks_message});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL408", "exit_hook_keeps_object", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::exit_hook_keeps_object
