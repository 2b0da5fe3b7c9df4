// The worker processes of a loader live as long as the iterator that was broken off.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::workers_left_alive {
namespace {

// What other processes take is in no counter of this one.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  const std::string size =
      holder.held_bytes > 0 ? ", " + human(holder.held_bytes) + " in all," : "";
  return std::to_string(holder.count) + " worker process" + (holder.count == 1 ? "" : "es") + size +
         " live by " + holder.label +
         ", which gave no batch during the last cells. End them with `" + holder.release +
         "`, or peek with `num_workers=0`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"workers", "End the workers", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL321", "workers_left_alive", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::workers_left_alive
