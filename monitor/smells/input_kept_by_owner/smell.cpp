// A progress bar, an iterator or a grouping that keeps the data it was made from, and that no later
// cell mentions.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::input_kept_by_owner {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") keeps " + human(holder.held_bytes) +
         " of the data it was made from, which no other name reaches. No later cell mentions it. "
         "Free it with `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"kept input", "Delete it", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL424", "input_kept_by_owner", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::input_kept_by_owner
