// A hook whose handle is gone runs for the life of its module, and fills what it fills.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::hook_never_removed {
namespace {

// Hooks run whatever they keep: their number is worth a word from the first one too many.
constexpr std::int64_t kUnknown = 0;
constexpr std::int64_t kWorthBytes = 1 << 20;

std::string of_filling(const Holder& holder) {
  return (holder.count == 1 ? "A hook" : std::to_string(holder.count) + " hooks") + " in " +
         holder.label + (holder.count == 1 ? " fills " : " fill ") + holder.largest +
         ", which keeps " + human(holder.held_bytes) +
         " alive, and no handle is left to remove it. Empty and remove with `" + holder.release +
         "`. Keep the handle, and call its `.remove()`.";
}

std::string of_repeated(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) +
         " hooks from several runs of one cell. Remove the later ones with `" + holder.release +
         "`. Keep the handle, and call its `.remove()` before the next run.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"hooks that fill", "Empty and remove", of_filling});
  for (const Holder& holder : session.holders) {
    SessionView one;
    one.cell = session.cell;
    one.holders = {holder};
    const auto least = holder.held_bytes >= kWorthBytes ? kWorthBytes : kUnknown;
    for (Finding& finding : holder_findings(
             one, {"repeated hooks", "Remove all but the first", of_repeated, 1, least}))
      findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL107", "hook_never_removed", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::hook_never_removed
