// A finished future keeps its result as long as it lives itself.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::future_keeps_result {
namespace {

// A batch of large results: worth interrupting somebody.
constexpr std::int64_t kManyBytes = 64 << 20;

std::string message(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) +
         " of results alive that were read and that nothing else has (" +
         std::to_string(holder.count) + " × " + holder.largest + "). Free them with `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {"futures", "Let the futures go", message, 0, 1 << 20, kManyBytes});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL413", "future_keeps_result", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::future_keeps_result
