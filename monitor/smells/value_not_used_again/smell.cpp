// A large value under a name that no later cell uses.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::value_not_used_again {
namespace {

std::string message(const Holder& holder) {
  const bool several = holder.count > 1;
  return holder.label + (several ? " together keep " : " keeps ") + human(holder.held_bytes) +
         " (" + holder.largest + "), and no later cell uses " + (several ? "them" : "it") +
         ". Free it with `" + holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"unused value", "Delete the name", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL420", "value_not_used_again", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::value_not_used_again
