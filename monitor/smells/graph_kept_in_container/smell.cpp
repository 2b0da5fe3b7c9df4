// Every output in a container keeps the whole graph of its forward pass.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::graph_kept_in_container {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " tensors in " + holder.label + " keep " +
         human(holder.held_bytes) +
         " alive by their autograd graphs: the activations of every forward pass. Store "
         "`output.detach()`, or run under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {"graphs of tensors", "Take the graphs, keep the values", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL101", "graph_kept_in_container", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::graph_kept_in_container
