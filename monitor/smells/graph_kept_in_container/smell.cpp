// Every output in a container keeps the whole graph of its forward pass.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::graph_kept_in_container {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;

bool is_leak(const Holder& holder) {
  return holder.kind == "graphs of tensors" && holder.held_bytes >= kWorthMentioningBytes;
}

Finding finding_of(const Holder& holder, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = holder.since_cell;
  finding.bytes = holder.held_bytes;
  finding.name = holder.label;
  finding.holders = {holder.label};
  finding.path = {holder.label, holder.largest};
  finding.message = std::to_string(holder.count) + " tensors in " + holder.label + " keep " +
                    human(holder.held_bytes) +
                    " alive by their autograd graphs: the activations of every forward pass. "
                    "Store `output.detach()`, or run under `torch.no_grad()`.";
  finding.fixes = {{"Take the graphs, keep the values", holder.release}};
  finding.key = holder.label;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    if (is_leak(holder)) findings.push_back(finding_of(holder, session));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL101", "graph_kept_in_container", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::graph_kept_in_container
