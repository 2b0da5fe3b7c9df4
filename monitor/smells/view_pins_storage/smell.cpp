// A slice is a view: as long as it lives, so does the whole of what it was cut from.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::view_pins_storage {
namespace {

std::string message(const Holder& holder) {
  const bool tensors = holder.largest == "tensors";
  const std::string who =
      holder.count == 1 ? holder.label + " is a view that keeps "
                        : std::to_string(holder.count) + " views in " + holder.label + " keep ";
  return who + human(holder.held_bytes) +
         " alive which nothing shows: what they were cut from. Keep a copy, `" +
         (tensors ? "view.clone()" : "view.copy()") + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"views", "Put copies in their places", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL118", "view_pins_storage", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::view_pins_storage
