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

// A name leads there, so that only the user knows whether they are still wanted.
std::string collected_message(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) + " open widgets (" +
         holder.largest + "), and those of earlier runs, which no output shows, keep " +
         human(holder.held_bytes) + " alive. Type `widget.close()` for each and take it out of " +
         holder.label + " once you are done with it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"widgets", "Close those that are out of sight", message});
  const auto more = holder_findings(session, {"collected widgets", "", collected_message});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL414", "widget_or_bar_keeps_data", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::widget_or_bar_keeps_data
