// The worker processes of a loader live as long as the iterator that was broken off.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::workers_left_alive {
namespace {

// What other processes take is in no counter of this one.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  const std::string size =
      holder.held_bytes > 0 ? ", " + human(holder.held_bytes) + " in all," : "";
  return std::to_string(holder.count) + " worker process" + (holder.count == 1 ? "" : "es") + size +
         " live by " + holder.label +
         ", which gave no batch during the last cells. End them with `" + holder.release +
         "`, or peek with `num_workers=0`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"workers", "End the workers", message, 0, kBytesUnknown});
}

using source::Bound;
using source::Kind;

bool has_workers(const Call& loader) {
  const auto workers = loader.argument("num_workers", 5).integer();
  return loader.value().type == ValueType::loader && workers && *workers > 0;
}

// Somebody goes through it, takes from it again and again, or lets go of it.
bool is_used_up(const Place& iterator) {
  int bindings = 0;
  for (const PlaceBinding& binding : iterator.bindings()) {
    if (binding.how == Bound::deleted) return true;
    ++bindings;
  }
  for (const Expr& use : iterator.uses()) {
    const Expr above = use.parent();
    const Call call = above.as_call();
    const bool is_peek = call && call.callee().is_dotted({"builtins.next"}) && !call.in_loop();
    if (!is_peek) return true;
  }
  return bindings != 1;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Call& call : code.calls_to({"builtins.iter"})) {
    const auto arguments = call.arguments();
    const Expr target = call.target();
    const Place iterator = target.place();
    if (arguments.size() != 1 || !iterator || !iterator.outlives(call)) continue;
    const Call loader = arguments.front().made_by();
    if (!loader || !has_workers(loader) || is_used_up(iterator)) continue;
    findings.push_back(call.finding(
        "The worker processes of this loader live for as long as `" + std::string(target.text()) +
        "`, which is never used up: each has a copy of what it touched. Peek with "
        "`num_workers=0`, or `del " +
        std::string(target.text()) + "`."));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL321", "workers_left_alive", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::workers_left_alive
