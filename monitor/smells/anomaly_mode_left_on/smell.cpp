// Anomaly detection records where every operation came from; left on, it is paid for in each step.
#include "holder_findings.hpp"

namespace xleak::monitor::smells::anomaly_mode_left_on {
namespace {

// Tracebacks live and go with the graphs: time is what is lost.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "Anomaly detection is still on after training: weights changed " +
         std::to_string(holder.count) +
         " times in cells that left it on. Every operation stores a traceback and every gradient "
         "is searched for NaN. Switch it off with `" +
         holder.release + "`, or use `with torch.autograd.detect_anomaly():` around one batch.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"anomaly mode", "Switch it off", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL211", "anomaly_mode_left_on", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::anomaly_mode_left_on
