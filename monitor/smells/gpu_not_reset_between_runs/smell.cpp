// Runs on a GPU follow each other, and the models of the last ones are still there.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::gpu_not_reset_between_runs {
namespace {

// Below it lies what the allocator and the runtime keep for themselves.
constexpr std::int64_t kManyBytes = std::int64_t{16} << 20;

std::string message(const Holder& runs) {
  return "Each run leaves more on " + runs.label + ": " + runs.largest + ", and " +
         std::to_string(runs.count) +
         " Keras models are alive. At the end of a run write `del model`, "
         "`keras.backend.clear_session()` and `gc.collect()`, or give each run a process of its "
         "own.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"runs on a gpu", "", message, 0, kManyBytes});
}

bool deletes(const tensorflow::ModelPerTurn& model) {
  for (const PlaceBinding& binding : model.target.place().bindings()) {
    if (binding.how == source::Bound::deleted && binding.target.is_inside(model.body)) return true;
  }
  return false;
}

std::string missing_steps(const SourceView& code, const tensorflow::ModelPerTurn& model) {
  std::string missing;
  const auto add = [&](const std::string& step) {
    missing += (missing.empty() ? "" : ", ") + ("`" + step + "`");
  };
  if (!deletes(model)) add("del " + std::string(model.target.text()));
  if (!model.is_cleared) add("keras.backend.clear_session()");
  if (!tensorflow::collects_garbage(code, model.body)) add("gc.collect()");
  return missing;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras") || !tensorflow::sets_up_gpu(code)) return findings;
  for (const tensorflow::ModelPerTurn& model : tensorflow::models_per_iteration(code)) {
    const std::string missing = missing_steps(code, model);
    if (missing.empty()) continue;
    Finding finding = model.site.finding(
        "`" + std::string(model.target.text()) +
        "` is another model on the GPU in each iteration; the last ones wait there for the garbage "
        "collector: a higher peak. At the end of the iteration add " +
        missing + ".");
    // One of the two lets go of the weights sooner or later.
    if (model.is_cleared || tensorflow::collects_garbage(code, model.body))
      finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL507", "gpu_not_reset_between_runs", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::gpu_not_reset_between_runs
