// A running statistic that is computed with gradients keeps the graphs of the batches it was made
// of.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::running_stats_with_grad {
namespace {

std::string message(const Holder& holder) {
  return holder.label + ", a statistic of a module, has gradients: its " + holder.largest +
         " keeps " + human(holder.held_bytes) + " of the activations of " +
         std::to_string(holder.count) + (holder.count == 1 ? " forward pass" : " forward passes") +
         " alive. Update it under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"statistics", "Keep the statistic, cut its graph", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL207", "running_stats_with_grad", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::running_stats_with_grad
