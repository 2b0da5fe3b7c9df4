// The traceback of the last error keeps the locals of every function that it went through.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::traceback_pins_frames {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;

bool is_leak(const Holder& holder) {
  return holder.kind == "traceback" && holder.held_bytes >= kWorthMentioningBytes;
}

Finding finding_of(const Holder& holder, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = holder.since_cell;
  finding.bytes = holder.held_bytes;
  finding.holders = {holder.label};
  finding.path = {holder.label, holder.largest};
  finding.message = "The traceback of the last error keeps " + human(holder.held_bytes) +
                    " alive, most of it by " + holder.largest +
                    "; no name reaches it. Free it with `" + holder.release +
                    "`, or catch the error.";
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
const Smell smell{"XL402", "traceback_pins_frames", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::traceback_pins_frames
