// Each module that is compiled leaves code behind; past a limit the rest is not compiled at all.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::compile_cache_growth {
namespace {

// As many graphs as the compiler keeps for one function without complaint, with room to spare.
constexpr long long kFewIterations = 4;
// What the compiler keeps has no counter.
constexpr std::int64_t kBytesUnknown = 0;

bool is_reset(const SourceView& code, const Call& call) {
  for (const Call& reset : code.calls_to(
           {"torch._dynamo.reset", "torch.compiler.reset", "torch._dynamo.reset_code_caches"})) {
    if (call.loops().empty() || reset.in_loop()) return true;
  }
  return false;
}

// A decorator of a function that is defined again each time.
bool is_decorator(const Call& call) { return call.parent().is(source::Kind::decorator); }

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call : code.calls_to({"torch.compile", "torch._dynamo.optimize"})) {
    if (!call.in_loop() || call.is_guarded() || call.loops_run_at_most(kFewIterations)) continue;
    if (is_reset(code, call)) continue;
    findings.push_back(call.finding(
        std::string("`torch.compile` runs in each iteration of a loop") +
        (is_decorator(call) ? ", for a function that is defined there" : "") +
        ": each result leaves compiled code and guards behind, and past the limit of "
        "recompilations "
        "the rest runs uncompiled. Compile once before the loop, or call `torch.compiler.reset()` "
        "in each iteration."));
  }
  return findings;
}

std::string message(const Holder& holder) {
  const std::string what =
      holder.count == 1 ? "One function was" : std::to_string(holder.count) + " functions were";
  return what + " compiled " + holder.largest +
         " times, the limit of torch.compile, and run uncompiled from there on; code and guards of "
         "all versions are kept. Compile once for all shapes with `dynamic=True`, or make room "
         "with "
         "`torch.compiler.reset()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule rule{"recompilations", "", message, 0, kBytesUnknown};
  return holder_findings(session, rule.as(Severity::warning));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL322", "compile_cache_growth", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::compile_cache_growth
