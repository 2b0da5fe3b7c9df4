// A logger is one for the whole process: each run of the cell adds another handler to it.
#include "holder_findings.hpp"

namespace xleak::monitor::smells::handler_added_on_rerun {
namespace {

// What a handler keeps lies mostly outside of the process's memory: open files, sockets.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "Each run of the cell added a handler to " + holder.label + ": " +
         std::to_string(holder.count) + " (" + holder.largest +
         ") are there, and each record is written by all of them. Remove those of the earlier runs "
         "with the fix, or add one only `if not logger.handlers`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(
      session, {"handlers", "Remove those of the earlier runs", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL406", "handler_added_on_rerun", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::handler_added_on_rerun
