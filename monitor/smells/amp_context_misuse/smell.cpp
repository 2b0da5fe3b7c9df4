// Mixed precision by halves: what the scaler and autocast need to work together is missing.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::amp_context_misuse {
namespace {

// What goes wrong is the arithmetic; the copies of autocast have no tensor that could be asked.
constexpr std::int64_t kBytesUnknown = 0;
// As many steps past the scaler are no check of a single batch.
constexpr int kFewSteps = 99;

std::string without_steps(const Holder& holder) {
  return "`" + holder.label + "` scaled a loss and took no step, while weights were written in " +
         std::to_string(holder.count) +
         " steps or more: gradients that are still multiplied by the scale, and no overflow is "
         "skipped. "
         "Write `" +
         holder.label + ".step(optimizer)` and `" + holder.label + ".update()`.";
}

std::string only_skips(const Holder& holder) {
  return "`" + holder.label + "` skipped " + std::to_string(holder.count) +
         " steps or more: gradients overflow however small the scale, and it is next to nothing "
         "now. The model learns nothing. Look for the first loss that is inf or NaN, and make a "
         "new scaler.";
}

std::string left_on(const Holder& holder) {
  return "The " + holder.label +
         " is still on after a cell that trained: it keeps its half-precision copies of the "
         "weights, and computes with them whatever the optimizer writes. Put `with "
         "torch.autocast(…):` around the forward pass and the loss alone." +
         (holder.release.empty() ? "" : " Switch it off: `" + holder.release + "`");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {{"scaler without steps", "", without_steps, kFewSteps, kBytesUnknown},
                          {"scaler that skips", "", only_skips, 0, kBytesUnknown},
                          {"autocast", "Switch it off", left_on, 0, kBytesUnknown}});
}

using source::Field;
using source::Kind;

bool makes_scaler(const Call& call) {
  return call.callee().is_dotted(
      {"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler",
       "torch.cuda.amp.grad_scaler.GradScaler", "torch.cpu.amp.GradScaler"});
}

bool is_scaler(const Expr& receiver) {
  const Call made = receiver.made_by();
  return made && makes_scaler(made) && !made.keyword("enabled").is_false();
}

bool is_optimizer(const Expr& receiver) {
  if (receiver.value().type == ValueType::optimizer) return true;
  const std::string_view name = receiver.name();
  return receiver.value().type == ValueType::unknown && name.substr(0, 3) == "opt" &&
         name.find("sched") == std::string_view::npos;
}

/// What one iteration of a training loop does with its scaler, in functions that it calls too.
struct Iteration {
  List<Call> scaled;    ///< scaler.scale(loss)
  List<Call> steps;     ///< scaler.step(optimizer)
  List<Call> unscaled;  ///< loss.backward()
  List<Call> direct;    ///< optimizer.step()
  List<Call> clips;
  bool unscales = false;
};

// What a function is handed may be scaled already.
bool is_scaled(const Expr& loss) {
  if (loss.as_call().method() == "scale") return true;
  for (const PlaceBinding& binding : loss.place().bindings()) {
    if (binding.value.as_call().method() == "scale") return true;
    if (binding.how == source::Bound::parameter) return true;
  }
  return false;
}

void look_at(const Call& call, Iteration& iteration) {
  const std::string_view method = call.method();
  const Expr on = call.receiver();
  if (method == "scale" && is_scaler(on)) iteration.scaled.push_back(call);
  if (method == "unscale_" && is_scaler(on)) iteration.unscales = true;
  if (method == "step" && is_scaler(on)) iteration.steps.push_back(call);
  if (method == "step" && !call.is_guarded() && is_optimizer(on)) iteration.direct.push_back(call);
  // `accelerator.backward(loss)` scales by itself.
  const bool is_backward =
      method == "backward" && on && on.dotted().empty() && call.arguments().empty();
  if (is_backward && !call.is_guarded() && !is_scaled(on)) iteration.unscaled.push_back(call);
  if (call.callee().is_dotted(
          {"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"})) {
    iteration.clips.push_back(call);
  }
}

Iteration iteration_of(const SourceView& code, const Expr& body) {
  Iteration iteration;
  for (const Call& call : code.calls_in(body)) look_at(call, iteration);
  return iteration;
}

bool steps_by_scaler(const Iteration& iteration, const Expr& optimizer) {
  return std::any_of(iteration.steps.begin(), iteration.steps.end(), [&](const Call& step) {
    const Expr of = step.argument("optimizer", 0);
    return of && of.text() == optimizer.text();
  });
}

bool is_updated(const SourceView& code, const Expr& scaler) {
  const auto updates = code.calls_of({"update"});
  return std::any_of(updates.begin(), updates.end(), [&](const Call& call) {
    return call.receiver().text() == scaler.text() ||
           (is_scaler(call.receiver()) && call.receiver().made_by() == scaler.made_by());
  });
}

void add_direct_step(const SourceView& code, const Iteration& iteration,
                     std::vector<Finding>& findings) {
  const std::string scaler(iteration.scaled.front().receiver().text());
  for (const Call& step : iteration.direct) {
    const Expr optimizer = step.receiver();
    if (steps_by_scaler(iteration, optimizer)) continue;
    const std::string by_scaler = scaler + ".step(" + std::string(optimizer.text()) + ")";
    Finding finding =
        step.finding("`" + std::string(optimizer.text()) +
                     ".step()` takes gradients that are still multiplied by the scale of `" +
                     scaler + "`, and overflows are not skipped. Write `" + by_scaler + "` and `" +
                     scaler + ".update()`.");
    if (step.is_discarded() && step.arguments().empty()) {
      const std::string update =
          is_updated(code, iteration.scaled.front().receiver()) ? "" : "; " + scaler + ".update()";
      finding.fixes.push_back({"Step by the scaler", "", {step.replaced_by(by_scaler + update)}});
      finding.fixes.back().safe = false;
    }
    findings.push_back(std::move(finding));
  }
}

void add_unscaled(const Iteration& iteration, std::vector<Finding>& findings) {
  const Call& step = iteration.steps.front();
  const std::string scaler(step.receiver().text());
  for (const Call& backward : iteration.unscaled) {
    const std::string loss(backward.receiver().text());
    Finding finding =
        backward.finding("`" + loss + ".backward()` is not scaled, but `" + scaler +
                         ".step()` divides the gradients by the scale: they vanish. Write `" +
                         scaler + ".scale(" + loss + ").backward()`.");
    finding.fixes.push_back(
        {"Scale the loss", "", {backward.receiver().replaced_by(scaler + ".scale(" + loss + ")")}});
    finding.fixes.back().safe = false;
    findings.push_back(std::move(finding));
  }
}

void add_missing_update(const Iteration& iteration, std::vector<Finding>& findings) {
  const Call& step = iteration.steps.back();
  const std::string scaler(step.receiver().text());
  Finding finding =
      step.finding("`" + scaler + ".update()` is missing: after an overflow `" + scaler +
                   "` keeps the scale that was too large, and after a skipped step "
                   "it refuses the next. Call it once behind the last step.");
  if (step.is_discarded()) {
    finding.fixes.push_back(
        {"Update the scale", "", {step.followed_by("; " + scaler + ".update()")}});
    finding.fixes.back().safe = false;
  }
  findings.push_back(std::move(finding));
}

void add_clips(const Iteration& iteration, std::vector<Finding>& findings) {
  if (iteration.unscales || iteration.scaled.empty() || iteration.steps.empty()) return;
  for (const Call& clip : iteration.clips) {
    Finding finding = clip.finding(
        "The gradients are clipped while they are multiplied by the scale: nearly all are cut. "
        "Call `" +
        std::string(iteration.steps.front().receiver().text()) + ".unscale_(optimizer)` before.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

void judge(const SourceView& code, const Iteration& iteration, std::vector<Finding>& findings) {
  const bool mixes = !iteration.unscaled.empty() && !iteration.direct.empty();
  // Two models, one of them in full precision.
  if (!iteration.scaled.empty() && !mixes) add_direct_step(code, iteration, findings);
  if (!iteration.steps.empty() && !mixes) add_unscaled(iteration, findings);
  if (!iteration.steps.empty() && !is_updated(code, iteration.steps.back().receiver()))
    add_missing_update(iteration, findings);
  add_clips(iteration, findings);
}

Call autocast_of(const Expr& with_block) {
  for (const Expr& item : with_block.children()) {
    const Call call = item.is(Kind::as_pattern) ? item.first_child().as_call() : item.as_call();
    if (call && call.callee().is_dotted({"torch.autocast", "torch.amp.autocast",
                                         "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})) {
      return call;
    }
  }
  return {};
}

bool trains(const Loop& loop) {
  bool steps = false;
  bool leads_back = false;
  for (const Expr& spot : loop.body().all(Kind::call)) {
    const Call call = spot.as_call();
    steps |= call.method() == "step";
    leads_back |= call.method() == "backward";
  }
  return steps && leads_back;
}

// The copies of the weights that autocast makes are kept until its outermost block ends.
void add_long_autocast(const Call& autocast, std::vector<Finding>& findings) {
  const Expr block = autocast.enclosing(Kind::with_block);
  if (!autocast_of(block) || autocast.keyword("enabled").is_false() ||
      autocast.keyword("cache_enabled").is_false()) {
    return;
  }
  for (const Expr& spot : block.child(Field::body).all(Kind::for_loop)) {
    const Loop loop = spot.as_loop();
    if (!trains(loop)) continue;
    findings.push_back(autocast.finding(
        "One `autocast` spans the whole training loop: it keeps its copies of the weights until "
        "the block ends, so each iteration computes with those of the first. Put it into the loop, "
        "around the forward pass and the loss."));
    return;
  }
}

bool is_in_autocast(const Expr& spot) {
  for (Expr block = spot.enclosing(Kind::with_block); block;
       block = block.enclosing(Kind::with_block)) {
    if (autocast_of(block)) return true;
  }
  return false;
}

// `with autocast(): out = model(x)` and behind it `loss = criterion(out, y)`.
void add_loss_outside(const SourceView& code, const Iteration& iteration,
                      std::vector<Finding>& findings) {
  if (iteration.scaled.empty()) return;
  for (const Call& call : code.calls_in(iteration.scaled.front().loops().empty()
                                            ? Expr()
                                            : iteration.scaled.front().loops().front().body())) {
    if (!call.value().loss || is_in_autocast(call)) continue;
    const Expr output = call.argument("input", 0);
    for (const PlaceBinding& binding : output.place().bindings()) {
      if (!binding.value.as_call() || !is_in_autocast(binding.target)) continue;
      Finding finding = call.finding(
          "The loss of `" + std::string(output.text()) +
          "` is computed outside of `autocast`, in the half precision that the model returned: it "
          "overflows early. Move it into the block, or write `" +
          std::string(output.text()) + ".float()`.");
      finding.severity = Severity::note;
      finding.fixes.push_back(
          {"Compute it in full precision", "", {output.followed_by(".float()")}});
      finding.fixes.back().safe = false;
      findings.push_back(std::move(finding));
      break;
    }
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call : code.calls_to({"torch.autocast", "torch.amp.autocast",
                                         "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})) {
    add_long_autocast(call, findings);
  }
  List<Loop> seen;
  for (const Call& call : code.calls_of({"scale", "step"})) {
    if (!is_scaler(call.receiver())) continue;
    for (const Loop& loop : call.loops()) {
      if (loop.is(Kind::comprehension)) continue;
      if (std::find(seen.begin(), seen.end(), loop) != seen.end()) break;
      seen.push_back(loop);
      const Iteration iteration = iteration_of(code, loop.body());
      judge(code, iteration, findings);
      add_loss_outside(code, iteration, findings);
      break;
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL607", "amp_context_misuse", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::amp_context_misuse
