// A default that is a container keeps what every call puts into it.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::mutable_default_grows {
namespace {

std::string message(const Holder& holder) {
  return "The default of `" + holder.largest + "` has collected " + std::to_string(holder.count) +
         " elements, which keep " + human(holder.held_bytes) + " alive: " + holder.label +
         " is one object for all calls. Free them with `" + holder.release +
         "`, and make the default None.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"default that grows", "Empty the default", message});
  // By numbers and texts it may be a memo that somebody wanted.
  auto memos = holder_findings(session, {"default as a memo", "Empty the default", message});
  for (Finding& memo : memos) {
    memo.severity = Severity::note;
    findings.push_back(std::move(memo));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL410", "mutable_default_grows", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::mutable_default_grows
