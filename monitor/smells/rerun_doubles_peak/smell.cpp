// A cell run anew builds a large value while the one of its last run still lives.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::rerun_doubles_peak {
namespace {

// From here on the next larger batch ends the kernel.
constexpr int kNearLimitPercent = 80;

std::string message(const Holder& holder) {
  return "While this cell ran anew, the old value of `" + holder.label + "` lived until the new " +
         human(holder.held_bytes) +
         " were complete: for a moment both were there, and the process "
         "took " +
         std::to_string(holder.count) + " % of the memory. Write `" + holder.release +
         "` above the line that makes it, or run that before the cell.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"doubled peak", "Before the cell runs again", message, -1, 0});
  for (Finding& finding : findings) {
    for (const Holder& holder : session.holders) {
      const bool same = holder.kind == "doubled peak" && holder.label == finding.key;
      if (same && holder.count >= kNearLimitPercent) finding.severity = Severity::warning;
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL411", "rerun_doubles_peak", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::rerun_doubles_peak
