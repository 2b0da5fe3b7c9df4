// A cached method keeps every object that it was called on.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::cached_method_keeps_self {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;

bool is_leak(const Holder& holder) {
  return holder.kind == "method cache" && holder.held_bytes >= kWorthMentioningBytes &&
         holder.count > 0;
}

Finding finding_of(const Holder& holder, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = holder.since_cell;
  finding.bytes = holder.held_bytes;
  finding.holders = {holder.label};
  finding.path = {holder.label, holder.largest};
  finding.message = "The cache of " + holder.label + " keeps " + std::to_string(holder.count) +
                    " " + holder.largest + (holder.count == 1 ? " object" : " objects") + " and " +
                    human(holder.held_bytes) + " alive; nothing else does. Free them with `" +
                    holder.release + "`, or give each object a cache of its own.";
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
const Smell smell{"XL404", "cached_method_keeps_self", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::cached_method_keeps_self
