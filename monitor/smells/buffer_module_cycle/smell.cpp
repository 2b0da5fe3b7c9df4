// A part that points back to its owner: both are freed by the collector alone, whenever it comes.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::buffer_module_cycle {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " leads back to where it starts (" + std::to_string(holder.count) +
         (holder.count == 1 ? " such cycle" : " such cycles") +
         "). Collect them with `import gc; gc.collect()`, or pass the owner as an argument in "
         "place "
         "of the link back.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"cycle of objects", "Collect the garbage now", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL106", "buffer_module_cycle", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::buffer_module_cycle
