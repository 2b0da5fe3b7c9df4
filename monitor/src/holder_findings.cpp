#include "holder_findings.hpp"

#include <cctype>
#include <utility>

namespace xleak::monitor {
namespace {

bool is_leak(const Holder& holder, const HolderRule& rule) {
  return holder.kind == rule.kind && holder.count > rule.more_objects_than &&
         holder.held_bytes >= rule.least_bytes;
}

Finding finding_of(const Holder& holder, const HolderRule& rule, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = holder.since_cell;
  finding.line = holder.line;
  finding.holders = {holder.label};
  if (rule.least_bytes > 0) {
    finding.bytes = holder.held_bytes;
    finding.path = {holder.label};
    // A number says how many there are, and is no step.
    const std::string& step = holder.largest;
    if (!step.empty() && std::isdigit(static_cast<unsigned char>(step[0])) == 0)
      finding.path.push_back(step);
  }
  finding.message = rule.message(holder);
  if (!holder.release.empty()) finding.fixes = {{rule.fix_title, holder.release}};
  finding.severity = rule.severity;
  if (rule.warning_bytes && holder.held_bytes >= *rule.warning_bytes)
    finding.severity = Severity::warning;
  finding.key = holder.label;
  return finding;
}

}  // namespace

HolderRule timed_lines(const char* kind, std::string (*message)(const Holder&), int least_percent) {
  return {kind, "", message, least_percent - 1, 0};
}

std::vector<Finding> holder_findings(const SessionView& session, const HolderRule& rule) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    if (is_leak(holder, rule)) findings.push_back(finding_of(holder, rule, session));
  }
  return findings;
}

std::vector<Finding> holder_findings(const SessionView& session,
                                     std::initializer_list<HolderRule> rules) {
  std::vector<Finding> findings;
  for (const HolderRule& rule : rules) {
    for (Finding& finding : holder_findings(session, rule)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace xleak::monitor
