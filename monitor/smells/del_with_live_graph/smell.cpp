// A tensor that a graph has saved outlives its name.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::del_with_live_graph {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " are still alive after their name was deleted: " + holder.largest +
         ". Detach what was made of it, or take its `.item()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"deleted", "Cut the graph that holds it", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL108", "del_with_live_graph", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::del_with_live_graph
