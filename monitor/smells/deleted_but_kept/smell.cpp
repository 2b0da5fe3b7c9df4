// Memory behind what was deleted or replaced, and that an object of the user's still keeps.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::deleted_but_kept {
namespace {

std::string sentence(const Holder& holder, const char* done) {
  const std::string kept = holder.label + " keeps " + human(holder.held_bytes) + " of " +
                           holder.largest + ", which a cell " + done + ". ";
  if (!holder.release.empty()) return kept + "Free them with `" + holder.release + "`.";
  return kept + "Let that go too, or copy what it needs of it.";
}

std::string message_of_deleted(const Holder& holder) {
  return sentence(holder, "deleted or set to None");
}

std::string message_of_replaced(const Holder& holder) { return sentence(holder, "replaced"); }

std::string message_of_rebound(const Holder& holder) {
  return sentence(holder, "bound to another value");
}

std::string message_of_taken(const Holder& holder) {
  return sentence(holder, "took things out of");
}

std::string message_of_closed(const Holder& holder) { return sentence(holder, "closed"); }

std::string message_of_parameters(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") keeps " + human(holder.held_bytes) + " of " +
         std::to_string(holder.count) +
         (holder.count == 1 ? " parameter that" : " parameters that") +
         " nothing else has, with gradients and state. Take them out with `" + holder.release +
         "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {{"asked for", "Let it go there too", message_of_deleted},
                                   {"replaced", "Let it go there too", message_of_replaced},
                                   {"rebound", "Let it go there too", message_of_rebound},
                                   {"taken out", "Let it go there too", message_of_taken},
                                   {"closed", "Let it go there too", message_of_closed},
                                   {"left parameters", "Take them out", message_of_parameters}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL422", "deleted_but_kept", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::deleted_but_kept
