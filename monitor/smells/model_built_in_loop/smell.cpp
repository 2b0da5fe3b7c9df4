// A model that is made in the loop that trains it begins from nothing with each batch.
#include <algorithm>
#include <set>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::model_built_in_loop {
namespace {

using source::Bound;
using source::Kind;

// A handful of iterations is a comparison of variants, not training.
constexpr long long kFewIterations = 8;

bool is_class_of_program(const Call& call) {
  for (const PlaceBinding& binding : call.callee().place().bindings()) {
    if (binding.how == Bound::class_definition) return true;
  }
  return false;
}

// Layers without weights learn nothing: to make them costs nothing.
bool has_weights(const Call& call) {
  const std::string_view name = call.callee().name();
  for (const std::string_view layer : {"Linear", "Conv", "LSTM", "GRU", "RNN", "Embedding",
                                       "Transformer", "Attention", "Bilinear", "Sequential"}) {
    if (name.find(layer) != std::string_view::npos) return true;
  }
  return is_class_of_program(call) || call.callee().dotted().substr(0, 18) == "torchvision.models";
}

// A class of another file: its instance is asked for its weights.
bool is_asked_for_weights(const Call& call) {
  const std::string_view name = call.callee().name();
  const bool is_class = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
  if (!is_class || call.value().type != ValueType::unknown) return false;
  Expr made = call;
  while (made.parent().is(Kind::attribute) || made.parent().as_call()) {
    if (made.parent().as_call() && made.parent().child(source::Field::callee) != made) return false;
    made = made.parent();
  }
  const Expr statement = made.parent();
  return statement.is(Kind::assign) &&
         !statement.child(source::Field::left).place().calls_of({"parameters"}).empty();
}

bool makes_model(const Call& call) {
  const Value value = call.value();
  const bool is_model =
      value.type == ValueType::module && value.origin == call.id() && has_weights(call);
  return is_model || is_asked_for_weights(call);
}

bool makes_optimizer(const Call& call) {
  return call.value().type == ValueType::optimizer && call.value().origin == call.id() &&
         call.callee().dotted().substr(0, 12) == "torch.optim.";
}

Loop innermost_loop(const Call& call) {
  for (const Loop& loop : call.loops()) {
    if (!loop.is(Kind::comprehension)) return loop;
  }
  return {};
}

bool steps_in(const List<Call>& steps, const Loop& loop) {
  const Expr body = loop.body();
  for (auto at = std::lower_bound(steps.begin(), steps.end(), body);
       at != steps.end() && at->is_inside(body); ++at) {
    if (innermost_loop(*at) == loop) return true;
  }
  return false;
}

// Another model in each iteration is a search; one that gets weights goes on from them.
bool is_variant(const Call& call, const Loop& loop) {
  for (const Expr& argument : call.children()) {
    if (argument == call.callee()) continue;
    for (const Expr& name : argument.all(Kind::name)) {
      const auto bindings = name.place().bindings();
      const bool is_iteration =
          std::any_of(bindings.begin(), bindings.end(), [&](const auto& binding) {
            return binding.how == Bound::loop && binding.target.is_inside(loop);
          });
      if (is_iteration) return true;
    }
  }
  const Place place = call.target().place();
  return place && !place.calls_of({"load_state_dict", "load"}).empty();
}

// The optimizer of weights that begin in this iteration: an image, a latent code.
bool is_of_this_iteration(const Call& optimizer, const Loop& loop) {
  for (const Expr& argument : optimizer.children()) {
    if (argument != optimizer.callee() && loop.changes(argument)) return true;
  }
  return false;
}

std::string message(const Call& call) {
  const std::string what(call.callee().text());
  return makes_model(call)
             ? "`" + what +
                   "(…)` makes a new model in each iteration of the loop that trains it: what "
                   "was learned is gone with the next batch. Make it before the loop."
             : "`" + what +
                   "(…)` makes a new optimizer in each iteration: its momentum and averages "
                   "begin from zero with each batch. Make it before the loop.";
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const auto steps = code.calls_of({"step"});
  std::set<std::uint32_t> seen;
  for (const Call& backward : code.calls_of({"backward"})) {
    const Loop loop = innermost_loop(backward);
    if (!loop || !seen.insert(loop.id()).second) continue;
    const auto iterations = loop.iterations();
    const bool is_test = backward.function().name().substr(0, 4) == "test";
    if (is_test || (iterations && *iterations <= kFewIterations) || !steps_in(steps, loop))
      continue;
    bool has_fresh_model = false;
    for (const Expr& expression : loop.body().all(Kind::call)) {
      const Call call = expression.as_call();
      if (innermost_loop(call) != loop || call.is_guarded()) continue;
      if (makes_model(call) && !is_variant(call, loop)) {
        has_fresh_model = true;
        findings.push_back(call.finding(message(call)));
      } else if (makes_optimizer(call) && (has_fresh_model || !is_of_this_iteration(call, loop))) {
        findings.push_back(call.finding(message(call)));
      }
    }
  }
  return findings;
}

std::string let_go(const Holder& holder) {
  return holder.release.empty() ? "" : " Let them go with `" + holder.release + "`.";
}

std::string message_of_models(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) + " " + holder.largest +
         " optimizers whose models are gone: weights, gradients and averages, " +
         human(holder.held_bytes) +
         ". Make model and optimizer once before the loop, or keep numbers of each iteration." +
         let_go(holder);
}

std::string message_of_optimizers(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) + " more " + holder.largest +
         " optimizers of weights that a later one trains: their averages take " +
         human(holder.held_bytes) + ". Make the optimizer once before the loop." + let_go(holder);
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const char* fix_title = "Let the optimizers go";
  return holder_findings(session,
                         {{"optimizers without a model", fix_title, message_of_models},
                          {"optimizers of the same weights", fix_title, message_of_optimizers}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL306", "model_built_in_loop", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::model_built_in_loop
