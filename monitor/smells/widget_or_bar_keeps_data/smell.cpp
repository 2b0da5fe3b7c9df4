// ipywidgets' registry keeps each widget until it is closed, whether anybody can see it or not.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::widget_or_bar_keeps_data {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " of " + holder.label + " keep " +
         human(holder.held_bytes) + " alive, most of it by " + holder.largest +
         "; no name reaches them and no output shows them. Close them with the fix, and use one "
         "widget again, or type `widget.close()` before the next.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"widgets", "Close those that are out of sight", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL414", "widget_or_bar_keeps_data", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::widget_or_bar_keeps_data
