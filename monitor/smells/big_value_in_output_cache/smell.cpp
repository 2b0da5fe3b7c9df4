// A value shown as a cell's result stays in Out[n] for the life of the session.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::big_value_in_output_cache {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;
// A tenth of the machine in one forgotten value: a few more of them end the session.
constexpr std::int64_t kErrorShareOfRam = 10;

bool is_leak(const OutputEntry& entry) {
  return !entry.mentioned && entry.held_bytes >= kWorthMentioningBytes;
}

Severity severity_of(const OutputEntry& entry, const SessionView& session) {
  const bool dear = session.ram_bytes && entry.held_bytes >= *session.ram_bytes / kErrorShareOfRam;
  return dear ? Severity::error : Severity::warning;
}

Finding finding_of(const OutputEntry& entry, const SessionView& session) {
  const std::string number = "[" + std::to_string(entry.number) + "]";
  const std::string out = "Out" + number;
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = entry.shown_cell;
  finding.bytes = entry.held_bytes;
  finding.holders = entry.holders;
  finding.path = {"Out", number, entry.type_name};
  finding.message = out + " alone keeps " + human(entry.held_bytes) + " alive (" + entry.type_name +
                    "); nothing else names it. Free it with `%xdel " + out +
                    "`, or end the cell with `;`.";
  finding.fixes = {{"Release it", "%xdel " + out}};
  finding.severity = severity_of(entry, session);
  finding.key = out;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const OutputEntry& entry : session.outputs) {
    if (is_leak(entry)) findings.push_back(finding_of(entry, session));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL401", "big_value_in_output_cache", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::big_value_in_output_cache
