// predict() or evaluate() for one item at a time: each call sets up its own iterator.
#include <algorithm>

#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::dataset_per_predict {
namespace {

using source::Kind;

constexpr long long kFewIterations = 8;

// Another model in each iteration, as in a cross-validation, is asked once.
bool is_model_of_iteration(const Call& call) {
  const auto loops = call.loops();
  for (const Loop& loop : loops) {
    if (tensorflow::depends_on(call.receiver(), loop)) return true;
  }
  const Place model = call.receiver().place();
  return loops.empty() && tensorflow::is_bound_in(model, call.function().body());
}

bool is_of_keras(const Call& call, const Expr& data) {
  return call.receiver().value().type == ValueType::keras_model ||
         data.value().type == ValueType::dataset;
}

// `a, b = net.predict(x)` and `answer["a"]`: a list or dictionary of arrays has no numpy().
bool has_several_outputs(const Call& call) {
  const Expr target = call.target();
  if (target.is(Kind::tuple) || target.is(Kind::list)) return true;
  const auto uses = target.place().uses();
  return std::any_of(uses.begin(), uses.end(), [](const Expr& use) {
    const Expr element = use.parent();
    return element.is(Kind::subscript) && element.child(source::Field::object) == use &&
           element.last_child().is(Kind::string);
  });
}

// `net.predict(x, verbose=0)` is `net(x)` on one batch.
void add_fix(const Call& call, const Expr& data, Finding& finding) {
  if (has_several_outputs(call)) return;
  for (const Expr& part : call.children()) {
    const bool is_known =
        part == call.callee() || part == data ||
        (part.is(Kind::keyword) && (part.name() == "verbose" || part.name() == "x"));
    if (!is_known) return;
  }
  finding.fixes.push_back(
      {"Call the model itself",
       "",
       {call.replaced_by(std::string(call.receiver().text()) + "(" + std::string(data.text()) +
                         ", training=False).numpy()")},
       /*safe=*/false});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!tensorflow::is_used(code)) return findings;
  for (const Call& call : code.calls_of({"predict", "evaluate"})) {
    const Expr data = call.argument("x", 0);
    if (!data || !tensorflow::repeats(call, kFewIterations) || call.is_guarded()) continue;
    if (!is_of_keras(call, data) || is_model_of_iteration(call)) continue;
    const bool has_dataset = data.value().type == ValueType::dataset;
    if (!has_dataset && call.method() != "predict") continue;
    Finding finding = call.finding("`" + std::string(call.callee().text()) +
                                   "` in a loop sets up an iterator, callbacks and a progress bar "
                                   "for each call: time. Call the "
                                   "model on a tensor, or ask it once about all items.");
    if (!has_dataset) add_fix(call, data, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL511", "dataset_per_predict", Severity::note, nullptr, in_source};

}  // namespace xleak::monitor::smells::dataset_per_predict
