// A Keras model is compiled again in each iteration of the loop that trains it.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::improper_model_reuse {
namespace {

using source::Kind;

// Fine-tuning goes through a few phases, each with its own compile().
constexpr long long kFewPhases = 5;

bool is_trained_in(const Place& model, const Loop& loop, bool by_batch) {
  const auto calls = by_batch ? model.calls_of({"train_on_batch"})
                              : model.calls_of({"train_on_batch", "fit", "fit_generator"});
  for (const Call& call : calls) {
    if (call.is_inside(loop.body())) return true;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras")) return findings;
  for (const Call& call : code.calls_of({"compile"})) {
    const auto loops = call.loops();
    const Place model = call.receiver().place();
    if (loops.empty() || !model || call.is_guarded()) continue;
    if (!tensorflow::repeats(call, kFewPhases)) continue;
    const Loop& loop = loops.front();
    if (tensorflow::is_bound_in(model, loop) || !is_trained_in(model, loop, false)) continue;
    Finding finding = call.finding(
        "`" + std::string(call.receiver().text()) +
        "` is compiled again in each iteration, so its training function is traced again and its "
        "optimizer starts again: time and memory. Compile it once, before the loop.");
    if (!is_trained_in(model, loop, true)) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Graphs lie outside of what is measured.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "One cell had " + std::to_string(holder.count) +
         " functions of Keras traced, since it compiles models again and again: each compile() "
         "drops "
         "the function before and the state of the optimizer. Compile each model once, before the "
         "loop.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"recompiled models", "", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL513", "improper_model_reuse", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::improper_model_reuse
