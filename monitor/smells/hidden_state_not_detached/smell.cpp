// A recurrent state that is led on without a cut has the graphs of all batches behind it.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::hidden_state_not_detached {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " was led on through " + std::to_string(holder.count) +
         " forward passes: its " + holder.largest + " keeps " + human(holder.held_bytes) +
         " of their activations alive. Cut it between two batches, as `" + holder.release +
         "` does.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"carried states", "Keep the state, cut its graph", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL208", "hidden_state_not_detached", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::hidden_state_not_detached
