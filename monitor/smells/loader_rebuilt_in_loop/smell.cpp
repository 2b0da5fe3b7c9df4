// A loader that is made in each iteration starts its worker processes in each iteration.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::loader_rebuilt_in_loop {
namespace {

using source::Kind;

// Without workers a loader is a small object.
bool has_workers(const Call& loader) {
  const Expr workers = loader.argument("num_workers", 5);
  return workers && !workers.is_false();
}

// Folds, splits, a curriculum: another loader in each iteration.
bool differs(const Call& loader) {
  for (const Loop& loop : loader.loops()) {
    if (loop.is(Kind::comprehension)) return true;
    for (const Expr& argument : loader.children()) {
      if (argument != loader.callee() && loop.changes(argument)) return true;
    }
  }
  return false;
}

// In a function: what it is made of comes from whoever calls it.
bool depends_on_caller(const Call& loader) {
  if (!loader.loops().empty()) return false;
  const Function function = loader.function();
  for (const Expr& parameter : function.parameters()) {
    for (const Expr& argument : loader.children()) {
      if (parameter.name() != "self" && argument.mentions(parameter.place())) return true;
    }
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& loader :
       code.calls_to({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader",
                      "torch_geometric.loader.DataLoader", "torch_geometric.data.DataLoader",
                      "fastai.data.load.DataLoader"})) {
    if (!has_workers(loader) || !loader.in_loop() || loader.is_guarded()) continue;
    if (differs(loader) || depends_on_caller(loader)) continue;
    findings.push_back(loader.finding(
        "This loader is made again in each iteration: its worker processes start again and fill "
        "their "
        "queues from the beginning. Make one before the loop" +
        std::string(loader.keyword("persistent_workers") ? "."
                                                         : ", with `persistent_workers=True`.")));
  }
  return findings;
}

// Bytes of other processes, which no counter of this one gives back.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  const std::string end_them =
      holder.release.empty() ? "" : " End those of the older ones with the code of the fix.";
  return std::to_string(holder.count) + " loaders of one data set, in " + holder.label + ", keep " +
         holder.largest + " alive. One loader, made before the loop, does for all its iterations." +
         end_them;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  // Processes that pile up are more than a matter of speed.
  return holder_findings(
      session, {"loaders", "End their workers", message, 0, kBytesUnknown, /*warning_bytes=*/0});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL305", "loader_rebuilt_in_loop", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::loader_rebuilt_in_loop
