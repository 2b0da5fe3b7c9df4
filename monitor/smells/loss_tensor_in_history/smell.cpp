// A loss that is logged as a tensor keeps the graph that it came from.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::loss_tensor_in_history {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " losses in " + holder.label + " keep " +
         human(holder.held_bytes) +
         " alive by their autograd graphs: the activations of every forward pass. Store "
         "`loss.item()` in place of the tensor.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {"graphs of scalars", "Take the graphs, keep the values", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL102", "loss_tensor_in_history", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::loss_tensor_in_history
