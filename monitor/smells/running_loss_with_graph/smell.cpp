// A sum of loss tensors remembers the graph of every term.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::running_loss_with_graph {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " was made of " + std::to_string(holder.count) + " forward passes: its " +
         holder.largest + " keeps " + human(holder.held_bytes) +
         " of their activations alive. Add `loss.item()` or `loss.detach()` in place of the loss.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"sums", "Keep the value, cut its graph", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL203", "running_loss_with_graph", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::running_loss_with_graph
