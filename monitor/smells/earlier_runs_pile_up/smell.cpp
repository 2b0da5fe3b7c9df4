// What each run of a cell added to an object of a library, where the runs before the last one's is
// still there.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::earlier_runs_pile_up {
namespace {

std::string of_earlier_runs(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") keeps " + human(holder.held_bytes) + " that " +
         std::to_string(holder.count) + " earlier runs of a cell added; no code has read them.";
}

std::string message(const Holder& holder) {
  const std::string all = of_earlier_runs(holder);
  return holder.release.empty()
             ? all + " Remove the earlier ones, or make the object in the cell that adds to it."
             : all + " Free them with `" + holder.release + "`.";
}

std::string message_in_sight(const Holder& holder) {
  return of_earlier_runs(holder) + " They may still be on the screen.";
}

std::string message_of_callbacks(const Holder& holder) {
  const std::string all = holder.label + " (" + holder.largest + ") keeps " +
                          human(holder.held_bytes) + " of callbacks that " +
                          std::to_string(holder.count) +
                          " earlier runs of a cell added, each of which is still called.";
  return holder.release.empty() ? all + " Remove the earlier ones."
                                : all + " Free them with `" + holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  HolderRule in_sight{"earlier runs in sight", "Remove the earlier ones", message_in_sight};
  in_sight.severity = Severity::note;
  return holder_findings(
      session, {{"earlier runs", "Remove the earlier ones", message},
                {"callbacks of earlier runs", "Remove the earlier ones", message_of_callbacks},
                in_sight});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL425", "earlier_runs_pile_up", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::earlier_runs_pile_up
