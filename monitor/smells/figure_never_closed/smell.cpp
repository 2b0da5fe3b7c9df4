// Figures that pyplot keeps open are never freed.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::figure_never_closed {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;
// matplotlib warns from the same number on (rcParams["figure.max_open_warning"]).
constexpr int kManyFigures = 20;

bool is_leak(const Holder& holder) {
  return holder.kind == "figures" && holder.held_bytes >= kWorthMentioningBytes &&
         holder.count > kManyFigures;
}

Finding finding_of(const Holder& holder, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = holder.since_cell;
  finding.bytes = holder.held_bytes;
  finding.holders = {holder.label};
  finding.path = {holder.label, holder.largest};
  finding.message = std::to_string(holder.count) + " open figures keep " +
                    human(holder.held_bytes) + " alive in pyplot's registry. Free them with `" +
                    holder.release + "`, or close each figure once it is saved.";
  finding.fixes = {{"Release it", holder.release}};
  finding.key = holder.label;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    if (is_leak(holder)) findings.push_back(finding_of(holder, session));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL405", "figure_never_closed", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::figure_never_closed
