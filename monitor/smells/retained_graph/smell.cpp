// A backward pass that retains the graph leaves all activations to whoever still has the loss.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::retained_graph {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " was led back with `retain_graph=True`: its " + holder.largest +
         " still keeps " + human(holder.held_bytes) +
         " of activations alive. Leave the flag out of the last backward pass.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"retained graphs", "Keep the value, cut its graph", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL206", "retained_graph", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::retained_graph
