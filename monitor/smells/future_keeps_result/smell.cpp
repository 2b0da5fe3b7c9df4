// A finished future keeps its result as long as it lives itself.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::future_keeps_result {
namespace {

// A single one may be read again; several are kept for nothing.
constexpr std::int64_t kWarningOfOne = 16 << 20;

std::string message(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) +
         " of results alive that were read and that nothing else has (" +
         std::to_string(holder.count) + " × " + holder.largest + "). Free them with `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  HolderRule one{"future", "Let the future go", message};
  one.warning_bytes = kWarningOfOne;
  const HolderRule several{"futures", "Let the futures go", message};
  return holder_findings(session, {one, several.as(Severity::warning)});
}

using source::Bound;
using source::Kind;

bool makes_future(const Expr& value) {
  const Call call = value.as_call();
  if (!call) return false;
  const std::string_view method = call.method();
  return method == "submit" || method == "apply_async" || method == "map_async" ||
         method == "create_task" || method == "ensure_future" ||
         call.callee().is_dotted({"asyncio.create_task", "asyncio.ensure_future"});
}

// In a dictionary the future may be the key: `{pool.submit(f, x): x for x in xs}`.
Expr future_in(const Expr& value) {
  if (!value.is(Kind::pair)) return makes_future(value) ? value : Expr();
  for (const Expr& part : value.children()) {
    if (makes_future(part)) return part;
  }
  return {};
}

bool is_let_go(const Place& jobs, const Expr& since) {
  for (const Call& call : jobs.calls_of({"clear", "pop", "remove", "popleft", "popitem"})) {
    if (since < call) return true;
  }
  for (const PlaceBinding& binding : jobs.bindings()) {
    const bool goes = binding.how == Bound::assign || binding.how == Bound::deleted;
    if (goes && since < binding.target && !since.is_inside(binding.target.statement())) return true;
  }
  return false;
}

bool is_read(const Place& jobs, const Expr& since) {
  const auto uses = jobs.uses();
  return std::any_of(uses.begin(), uses.end(), [&](const Expr& use) { return since < use; });
}

void add_jobs(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    const Expr future = future_in(store.value);
    const Place jobs = store.container.place();
    if (!future || !jobs.is_module_level() || code.is_bounded(store)) continue;
    if (is_let_go(jobs, store.site) || !is_read(jobs, store.site)) continue;
    findings.push_back(future.finding(
        "`" + std::string(store.container.text()) +
        "` keeps the futures, and each future its result, after the results were read. Type `" +
        std::string(store.container.text()) + ".clear()` then, or take them from `pool.map`."));
  }
}

bool is_ended(const Place& pool) {
  if (!pool.calls_of({"shutdown", "close", "terminate", "__exit__"}).empty()) return true;
  const auto uses = pool.uses();
  return std::any_of(uses.begin(), uses.end(), [](const Expr& use) {
    return use.parent().is(Kind::with_block) || use.parent().is(Kind::as_pattern);
  });
}

void add_pools(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call :
       code.calls_to({"concurrent.futures.ThreadPoolExecutor",
                      "concurrent.futures.ProcessPoolExecutor", "multiprocessing.Pool",
                      "multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool"})) {
    const Place pool = call.target().place();
    if (!pool.is_module_level() || is_ended(pool)) continue;
    findings.push_back(call.finding("`" + std::string(pool.name()) +
                                    "` is never shut down: its workers stay, with what they "
                                    "loaded. Use it in a `with`."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const bool has_any = code.uses("concurrent") || code.uses("multiprocessing") ||
                       code.uses("asyncio") || code.uses("dask");
  if (!has_any) return findings;
  add_jobs(code, findings);
  add_pools(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL413", "future_keeps_result", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::future_keeps_result
