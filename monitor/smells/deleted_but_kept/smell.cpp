// Memory behind a name that was deleted, and that an object of the user's still keeps.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::deleted_but_kept {
namespace {

std::string message(const Holder& holder) {
  const std::string kept = holder.label + " keeps " + human(holder.held_bytes) + " of " +
                           holder.largest + ", which a cell deleted or set to None. ";
  if (!holder.release.empty()) return kept + "Free them with `" + holder.release + "`.";
  return kept + "Let that go too, or copy what it needs of it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"asked for", "Let it go there too", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL422", "deleted_but_kept", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::deleted_but_kept
