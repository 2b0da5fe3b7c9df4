// backward(create_graph=True) leaves gradients that keep the graph which keeps their Parameters.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::create_graph_in_backward {
namespace {

constexpr const char* kInstead = " Use `torch.autograd.grad(..., create_graph=True)`.";

std::string of_an_owner(const Holder& holder) {
  return holder.largest + " of " + holder.label + " kept by `backward(create_graph=True)` with " +
         human(holder.held_bytes) + " of graph. Let go of them with `" + holder.release +
         "` before you delete the model: afterwards no collection frees it." + kInstead;
}

std::string of_nobody(const Holder& holder) {
  return holder.largest + " kept by `backward(create_graph=True)`, with " +
         human(holder.held_bytes) +
         " of graph and Parameters, though no name reaches them: a cycle that no collection frees. "
         "Free them with `" +
         holder.release + "`." + kInstead;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"gradients with a graph", "Let go of the gradients", of_an_owner});
  const auto orphaned =
      holder_findings(session, {"orphaned gradients", "Free what nobody reaches", of_nobody});
  findings.insert(findings.end(), orphaned.begin(), orphaned.end());
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL205", "create_graph_in_backward", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::create_graph_in_backward
