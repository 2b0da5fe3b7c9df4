// Figures that pyplot keeps open are never freed.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::figure_never_closed {
namespace {

// matplotlib warns from the same number on (rcParams["figure.max_open_warning"]).
constexpr int kManyFigures = 20;

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " open figures keep " + human(holder.held_bytes) +
         " alive in pyplot's registry. Free them with `" + holder.release +
         "`, or close each figure once it is saved.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"figures", "Close them", message, kManyFigures});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL405", "figure_never_closed", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::figure_never_closed
