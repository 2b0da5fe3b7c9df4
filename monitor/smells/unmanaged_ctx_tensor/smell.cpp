// A tensor kept as an attribute of an autograd function's context outlives the way back.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::unmanaged_ctx_tensor {
namespace {

// Fewer results are as likely in use as kept.
constexpr int kSeveral = 3;
constexpr const char* kInstead = " Give tensors to `ctx.save_for_backward` in place of attributes.";

std::string of_garbage(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " leads back to where it starts, a cycle of an output and its context (" +
         std::to_string(holder.count) + " times). Collect them with `import gc; gc.collect()`." +
         kInstead;
}

std::string of_results(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) + " alive by " + holder.largest +
         " of its graph, which backward() does not free. Let go of it with `" + holder.release +
         "`." + kInstead;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"cycle of a context", "Collect the garbage now", of_garbage});
  for (const Holder& holder : session.holders) {
    SessionView one;
    one.cell = session.cell;
    one.holders = {holder};
    for (Finding& finding : holder_findings(
             one, {"context of results", "Take the graphs, keep the values", of_results})) {
      if (holder.count < kSeveral) finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL210", "unmanaged_ctx_tensor", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::unmanaged_ctx_tensor
