// next(iter(loader)) starts a whole pass over the data for each batch.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::iter_rebuilt_per_batch {
namespace {

// The loader of `iter(loader)`.
Expr iterated(const Expr& expression) {
  const Call call = expression.as_call();
  const auto arguments = call.arguments();
  const bool is_iter = call && call.callee().is_dotted({"builtins.iter"}) && arguments.size() == 1;
  return is_iter ? arguments.front() : Expr();
}

bool differs(const Call& call, const Expr& loader) {
  for (const Loop& loop : call.loops()) {
    if (loop.changes(loader)) return true;
  }
  return false;
}

// A loader that is handed over, or made for the one batch, may be another one each time.
bool depends_on_caller(const Call& call, const Expr& loader) {
  if (!call.loops().empty()) return false;
  for (const PlaceBinding& binding : loader.place().bindings()) {
    const bool is_made_here = binding.target.function() == call.function() && call.function();
    if (binding.how == source::Bound::parameter || is_made_here) return true;
  }
  return false;
}

void judge(const Call& call, const Expr& loader, std::vector<Finding>& findings) {
  if (!loader || !loader.is_loader_like() || !call.in_loop() || call.is_guarded()) return;
  if (differs(call, loader) || depends_on_caller(call, loader)) return;
  const std::string name(loader.text());
  findings.push_back(call.finding("`next(iter(" + name +
                                  "))` in a loop starts the loader, with its workers and queues, "
                                  "for one batch each time. Make `batches = iter(" +
                                  name + ")` before the loop and take `next(batches)`."));
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Call& call : code.calls_to({"builtins.next"})) {
    const auto arguments = call.arguments();
    if (!arguments.empty()) judge(call, iterated(arguments.front()), findings);
  }
  for (const Call& call : code.calls_of({"__next__", "next"})) {
    judge(call, iterated(call.receiver()), findings);
  }
  return findings;
}

// Bytes of other processes, which no counter of this one gives back.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  const std::string end_them =
      holder.release.empty() ? "" : " Let the older ones go with the code of the fix.";
  return std::to_string(holder.count) + " iterators of one loader, in " + holder.label +
         ", each for a batch, keep " + holder.largest +
         " alive. Make one `batches = iter(loader)` before the loop and take `next(batches)`." +
         end_them;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  // Processes that pile up are more than a matter of speed.
  return holder_findings(
      session, {"iterators", "Let them go", message, 0, kBytesUnknown, /*warning_bytes=*/0});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL320", "iter_rebuilt_per_batch", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::iter_rebuilt_per_batch
