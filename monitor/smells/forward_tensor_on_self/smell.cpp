// What a forward pass leaves on its module lives as long as the module.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::forward_tensor_on_self {
namespace {

std::string one_tensor(const Holder& holder) {
  return holder.label + " is a tensor that the forward pass left on the module; it alone keeps " +
         human(holder.held_bytes) + " alive, with its graph, until the next pass. Free it with `" +
         holder.release + "`; use a local variable, or `.detach()` what you look at later.";
}

std::string many(const Holder& holder) {
  return holder.label + " of a module has grown to " + std::to_string(holder.count) +
         " elements and " + human(holder.held_bytes) +
         " over several executions. Free them with `" + holder.release +
         "`, and return from the forward pass what you need.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"tensor of a forward pass", "Let go of it", one_tensor});
  for (Finding& grown :
       holder_findings(session, {"growing container of a module", "Empty the container", many})) {
    // One batch is bounded; this is not.
    grown.severity = Severity::error;
    findings.push_back(std::move(grown));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL103", "forward_tensor_on_self", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::forward_tensor_on_self
