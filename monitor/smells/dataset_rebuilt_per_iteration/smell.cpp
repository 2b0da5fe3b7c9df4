// The same tf.data pipeline is made again in each iteration.
#include <algorithm>

#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::dataset_rebuilt_per_iteration {
namespace {

using source::Kind;

constexpr long long kFewIterations = 8;

// The chain of methods on it: `from_tensor_slices(x).batch(4).prefetch(2)`.
Call whole_pipeline(Call made) {
  while (made.parent().is(Kind::attribute) && made.parent().parent().as_call()) {
    const Call next = made.parent().parent().as_call();
    if (next.receiver() != made) break;
    made = next;
  }
  return made;
}

bool has_method(const Call& pipeline, std::string_view name) {
  for (Call call = pipeline; call; call = call.receiver().as_call()) {
    if (call.method() == name) return true;
  }
  return false;
}

// A call may return something else in each iteration; these do not.
bool is_pure(const Call& call) {
  static constexpr std::string_view kMethods[] = {"astype",   "reshape", "to_numpy", "batch",
                                                  "prefetch", "repeat",  "cache",    "take",
                                                  "skip",     "copy",    "join"};
  const std::string_view method = call.method();
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods) ||
         call.callee().is_dotted({"tensorflow.constant", "tensorflow.cast", "builtins.list",
                                  "builtins.len", "builtins.sorted", "numpy.array"});
}

// Neither the iteration nor anything that a call may change goes into it.
bool is_same_each_iteration(const Call& made, const Call& pipeline, const Loop& loop) {
  const auto arguments = made.children();
  if (arguments.size() < 2 || tensorflow::depends_on(pipeline, loop)) return false;
  for (const Expr& inner : made.all(Kind::call)) {
    if (inner != made && !is_pure(inner.as_call())) return false;
  }
  return true;
}

bool is_small(const Call& made) {
  if (made.callee().name() == "range") return true;
  const bool has_data = !made.all(Kind::string).empty();
  for (const Expr& argument : made.arguments()) {
    if (!argument.all(Kind::name).empty()) return false;
  }
  return !has_data;
}

bool is_kept(const Call& pipeline, const Loop& loop) {
  const Expr above = pipeline.parent();
  if (above.is(Kind::return_statement) || above.is(Kind::yield) || loop.is(Kind::comprehension))
    return true;
  const Expr target = pipeline.target();
  if (target.is(Kind::subscript)) return true;
  const Call taker = above.as_call();
  if (taker && taker.method() == "append") return true;
  return target && tensorflow::is_kept(target.place(), loop.body());
}

List<Call> sources(const SourceView& code) {
  return code.calls_to(
      {"tensorflow.data.Dataset.from_tensor_slices", "tensorflow.data.Dataset.from_tensors",
       "tensorflow.data.Dataset.from_generator", "tensorflow.data.Dataset.list_files",
       "tensorflow.data.TFRecordDataset", "tensorflow.data.TextLineDataset",
       "tensorflow.data.experimental.make_csv_dataset", "keras.utils.image_dataset_from_directory",
       "keras.utils.text_dataset_from_directory",
       "keras.preprocessing.image_dataset_from_directory",
       "keras.preprocessing.text_dataset_from_directory"});
}

// `ds.make_one_shot_iterator()` of TensorFlow 1.
List<Call> iterators(const SourceView& code) {
  return code.calls_of({"make_one_shot_iterator", "make_initializable_iterator"});
}

bool is_rebuilt(const Call& made) {
  const auto loops = made.loops();
  if (loops.empty() || made.is_guarded() || !tensorflow::repeats(made, kFewIterations))
    return false;
  const Call pipeline = whole_pipeline(made);
  return is_same_each_iteration(made, pipeline, loops.front()) &&
         !has_method(pipeline, "shuffle") && !is_small(made) && !is_kept(pipeline, loops.front());
}

bool is_iterator_rebuilt(const Call& made) {
  const auto loops = made.loops();
  return !loops.empty() && !made.is_guarded() && tensorflow::repeats(made, kFewIterations) &&
         made.receiver().place() && !tensorflow::depends_on(made.receiver(), loops.front());
}

Finding told(const Call& made) {
  return made.finding(
      "`" + std::string(made.callee().text()) +
      "` makes the same pipeline in each iteration, each with its own copy of the source "
      "and its own buffers: time and a higher peak. Make it once, before the loop.");
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!tensorflow::is_used(code)) return findings;
  for (const Call& made : sources(code)) {
    if (is_rebuilt(made)) findings.push_back(told(made));
  }
  for (const Call& made : iterators(code)) {
    if (is_iterator_rebuilt(made)) findings.push_back(told(made));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " datasets each have their own copy of the same " +
         holder.largest + ": " + human(holder.held_bytes) +
         " more than one needs. Make the dataset once, or all of them from one `tf.constant`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"dataset copies", "", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL504", "dataset_rebuilt_per_iteration", Severity::warning, at_run_time,
                  in_source};

}  // namespace xleak::monitor::smells::dataset_rebuilt_per_iteration
