// The process stays large after its objects died, because malloc keeps their memory.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::freed_heap_not_returned {
namespace {

// Less is what any cell may want again in a moment.
constexpr std::int64_t kManyBytes = std::int64_t{256} << 20;

std::string message(const Holder& holder) {
  return "The objects are gone, but malloc keeps " + human(holder.held_bytes) +
         " of their memory for later, and the process stays that much larger. Return it to the "
         "system with `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"free heap", "Return it", message, 0, kManyBytes});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL630", "freed_heap_not_returned", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::freed_heap_not_returned
