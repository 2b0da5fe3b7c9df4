// A tensor that is concatenated with itself in a loop is copied whole in each turn.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::cat_in_loop {
namespace {

// What is copied goes at once: time is lost, and a second copy at the peak.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "In a loop " + holder.label + " ran " + std::to_string(holder.count) +
         " times: " + human(holder.held_bytes) +
         " that were there already were copied for a result of " + holder.largest +
         ". Append the parts to a list and concatenate once after the loop, or fill a tensor that "
         "has its full size from the start.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"grown by cat", "", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL110", "cat_in_loop", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::cat_in_loop
