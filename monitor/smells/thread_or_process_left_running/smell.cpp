// Each run of the cell starts one more, and nothing stops the former.
#include "holder_findings.hpp"

namespace xleak::monitor::smells::thread_or_process_left_running {
namespace {

// Stacks, sockets and the memory of other processes are in no counter of this one.
constexpr std::int64_t kBytesUnknown = 0;
constexpr const char* kTitle = "Stop those of the earlier runs";

std::string started(const Holder& holder) {
  return "Each run of the cell started one more " + holder.label + ": " +
         std::to_string(holder.count) + " are running. ";
}

std::string threads_message(const Holder& holder) {
  return started(holder) +
         "Give each a `threading.Event` that it looks at, and type `stop.set(); thread.join()` "
         "before the next; a timer has `cancel()`, a server `shutdown()`.";
}

std::string processes_message(const Holder& holder) {
  return started(holder) + "Type `process.terminate(); process.wait()` (`join()` for one of " +
         "multiprocessing) before the next.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"threads", kTitle, threads_message, 0, kBytesUnknown});
  const auto more =
      holder_findings(session, {"processes", kTitle, processes_message, 0, kBytesUnknown});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL415", "thread_or_process_left_running", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::thread_or_process_left_running
