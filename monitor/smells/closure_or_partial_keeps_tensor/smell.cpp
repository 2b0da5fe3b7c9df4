// A stored function, partial or generator keeps what it captured, and nobody sees it.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::closure_or_partial_keeps_tensor {
namespace {

// So many in one container are collected; fewer are as likely in use.
constexpr int kCollected = 3;

std::string message(const Holder& holder) {
  const std::string who = holder.count == 1
                              ? "The function (or generator) at " + holder.label
                              : std::to_string(holder.count) + " functions in " + holder.label;
  return who + (holder.count == 1 ? " keeps " : " keep ") + human(holder.held_bytes) +
         " alive that nothing else does: it captured a value of type " + holder.largest +
         ". Free it with `" + holder.release +
         "`, or capture the small result in place of the large value.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    SessionView one;
    one.cell = session.cell;
    one.holders = {holder};
    for (Finding& finding :
         holder_findings(one, {"captures", "Delete what captured it", message})) {
      if (holder.count >= kCollected) finding.severity = Severity::warning;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL407", "closure_or_partial_keeps_tensor", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::closure_or_partial_keeps_tensor
