// A replay memory whose tensors keep their graphs, or memory of a device.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::tensor_in_replay_buffer {
namespace {

// The memory is meant to be large.
constexpr int kManyEntries = 100;

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " entries of " + holder.label + " hold " + holder.largest +
         " and keep " + human(holder.held_bytes) + " alive, " +
         human(holder.held_bytes / holder.count) + " each. Free them with `" + holder.release +
         "`; store `.detach().cpu()`, or act under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const auto of_kind = [&session](const char* kind) {
    return holder_findings(session, {kind, "Empty the memory", message, kManyEntries - 1});
  };
  auto findings = of_kind("replay memory");
  // It will be full one day.
  for (Finding& bounded : of_kind("large replay memory")) {
    bounded.severity = Severity::warning;
    findings.push_back(std::move(bounded));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL104", "tensor_in_replay_buffer", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::tensor_in_replay_buffer
