// A cache without a bound that grows with every execution.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::unbounded_tensor_cache {
namespace {

std::string grows(const Holder& holder) {
  return "The cache " + holder.label + " has no bound and has grown to " +
         std::to_string(holder.count) + " entries and " + human(holder.held_bytes) +
         " over several executions. Free them with `" + holder.release +
         "`, and give it a bound, such as functools.lru_cache(maxsize=128).";
}

std::string never_hits(const Holder& holder) {
  return "The cache of " + holder.label + " hardly ever hits: its " + std::to_string(holder.count) +
         " entries keep " + human(holder.held_bytes) + " alive for nothing. Free them with `" +
         holder.release + "`; tensors and arrays as arguments never match again.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"growing cache", "Empty the cache", grows});
  for (Finding& finding :
       holder_findings(session, {"cache without hits", "Empty the cache", never_hits}))
    findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL109", "unbounded_tensor_cache", Severity::error, at_run_time};

}  // namespace xleak::monitor::smells::unbounded_tensor_cache
