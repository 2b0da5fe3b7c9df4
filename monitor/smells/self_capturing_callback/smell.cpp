// A callback that an object keeps and that keeps the object: the collector alone frees both.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::self_capturing_callback {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " leads back to where it starts (" + std::to_string(holder.count) +
         (holder.count == 1 ? " such cycle" : " such cycles") +
         "). Collect them with `import gc; gc.collect()`; give the callback the values that it "
         "needs, or a `weakref.ref`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"cycle of a callback", "Collect the garbage now", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL113", "self_capturing_callback", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::self_capturing_callback
