// eval() changes dropout and normalisation; gradients are recorded as before.
#include <algorithm>
#include <set>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::eval_without_no_grad {
namespace {

using source::Kind;

// How far a result is followed: out = net(x); best = out[-1]; return best.
constexpr int kSteps = 4;

// More calls than a notebook has below one line: in longer programs the search stays linear.
constexpr int kFarthest = 5000;

// A forward pass of a model that eval() was called on, as the code after eval() writes it.
struct Pass {
  Call call;
  bool is_direct;  ///< The model itself is called; else a function that calls it.
};

bool switches_to_eval(const Call& call) {
  if (call.method() == "eval") return call.arguments().empty();
  return call.argument("mode", 0).is_false();
}

bool switches_to_train(const Call& call) {
  return call.method() == "train" && !switches_to_eval(call);
}

bool trains(const SourceView& code, Expr spot) {
  for (const Call& call : code.calls_in(spot)) {
    if (call.method() == "backward" || switches_to_train(call)) return true;
  }
  return false;
}

/// The functions in which somebody asks for gradients: of the input, or by hooks.
class GradientSeekers {
 public:
  explicit GradientSeekers(const SourceView& code) {
    for (const Call& call :
         code.calls_of({"requires_grad_", "retain_grad", "backward_hook",
                        "register_full_backward_hook", "register_backward_hook", "enable_grad"})) {
      if (!call.argument("requires_grad", 0).is_false()) add(call);
    }
    for (const Call& call :
         code.calls_to({"torch.autograd.grad", "torch.autograd.functional.jacobian",
                        "torch.autograd.functional.hessian", "torch.autograd.functional.jvp",
                        "torch.autograd.functional.vjp"})) {
      add(call);
    }
    for (const Expr& statement : code.assignments()) {
      const Expr left = statement.child(source::Field::left);
      if (left.is(Kind::attribute) && left.name() == "requires_grad" &&
          !statement.child(source::Field::right).is_false()) {
        add(statement);
      }
    }
  }

  bool include(const Expr& spot) const { return functions_.count(spot.function().id()) != 0; }

 private:
  void add(const Expr& spot) { functions_.insert(spot.function().id()); }

  std::set<std::uint32_t> functions_;
};

bool freezes(const Expr& statement) {
  return statement.child(source::Field::left).name() == "requires_grad" &&
         statement.child(source::Field::right).is_false();
}

// Its weights ask for no gradient.
bool is_frozen(const Place& model) {
  for (const Call& call : model.calls_of({"requires_grad_"})) {
    if (call.argument("requires_grad", 0).is_false()) return true;
  }
  for (const Call& parameters : model.calls_of({"parameters", "named_parameters"})) {
    if (!parameters.parent().is(Kind::for_loop)) continue;
    for (const Expr& statement : parameters.parent().all(Kind::assign)) {
      if (freezes(statement)) return true;
    }
  }
  return false;
}

bool is_framework_method(const SourceView& code, const Expr& spot) {
  const std::string_view name = spot.function().name();
  return name == "forward" || name == "__call__" || name.substr(0, 4) == "test_" ||
         (name.size() > 5 && name.substr(name.size() - 5) == "_step") ||
         code.is_derived(spot.class_definition(),
                         {"lightning.LightningModule", "pytorch_lightning.LightningModule",
                          "lightning.pytorch.LightningModule", "unittest.TestCase"});
}

// Something below a spot leads a variable back; the same name may have served the training above.
bool leads_back_after(const Place& place, const Expr& spot, int depth) {
  if (!place || depth > kSteps) return false;
  for (const Expr& use : place.uses()) {
    if (use < spot) continue;
    for (Expr at = use; at && !at.is(Kind::block); at = at.parent()) {
      const Call call = at.as_call();
      if (call.method() == "backward") return true;
      if (call.callee().is_dotted({"torch.autograd.grad", "torch.autograd.backward"})) return true;
      if (!at.is(Kind::assign) && !at.is(Kind::augmented_assign)) continue;
      const Place made = at.child(source::Field::left).place();
      if (made != place && leads_back_after(made, use, depth + 1)) return true;
    }
  }
  return false;
}

bool is_led_back(const Call& pass) {
  for (Expr at = pass; at && !at.is(Kind::block); at = at.parent()) {
    if (at.as_call().method() == "backward") return true;
    if (!at.is(Kind::assign)) continue;
    const Expr left = at.child(source::Field::left);
    if (leads_back_after(left.place(), pass, 0)) return true;
    for (const Expr& element : left.children()) {
      if (leads_back_after(element.place(), pass, 0)) return true;
    }
  }
  return false;
}

bool is_returned(const Expr& value, const Function& function, int depth);

bool is_place_returned(const Place& place, const Function& function, int depth) {
  for (const Expr& use : place.uses()) {
    if (use.function() == function && is_returned(use, function, depth + 1)) return true;
  }
  return false;
}

// A number, an array, a detached tensor: what it came from is free.
bool is_free(const Expr& expression) {
  const Value value = expression.value();
  switch (value.type) {
    case ValueType::number:
    case ValueType::text:
    case ValueType::array:
    case ValueType::nothing:
      return true;
    default:
      return value.is_tensor() && value.graph == HasGraph::no;
  }
}

bool any_returned(const Expr& target, const Function& function, int depth) {
  if (target.place()) return is_place_returned(target.place(), function, depth);
  for (const Expr& element : target.children()) {
    if (is_place_returned(element.place(), function, depth)) return true;
  }
  return false;
}

// It, or what is made of it, leaves the function with its graph.
bool is_returned(const Expr& value, const Function& function, int depth) {
  if (depth > kSteps) return false;
  for (Expr at = value; at && !at.is(Kind::block); at = at.parent()) {
    if (is_free(at)) return false;
    const Expr above = at.parent();
    if (above.is(Kind::return_statement)) return true;
    if (above.as_call().method() == "append" && at != above.as_call().callee())
      return any_returned(above.as_call().receiver(), function, depth);
    if (above.is(Kind::assign) && at == above.child(source::Field::right))
      return any_returned(above.child(source::Field::left), function, depth);
  }
  return false;
}

// Its class differentiates within its forward pass.
bool differentiates(const SourceView& code, const Call& eval) {
  for (const PlaceBinding& binding : eval.receiver().made_by().callee().place().bindings()) {
    if (binding.how != source::Bound::class_definition) continue;
    for (const Call& call : code.calls_in(binding.target)) {
      if (call.method() == "backward" || call.callee().is_dotted({"torch.autograd.grad"}))
        return true;
    }
  }
  return false;
}

// The function calls this model, recorded, and goes on to return something.
bool passes_through(const SourceView& code, const GradientSeekers& seekers,
                    const Function& function, const Place& model, const Call& site) {
  if (function == site.function() || trains(code, function.body())) return false;
  Place inside = model;
  int position = function.is_method() ? -1 : 0;
  for (const Expr& parameter : function.parameters()) {
    const Expr handed = position < 0 ? Expr() : site.argument(parameter.name(), position);
    if (handed.place() == model && model) inside = parameter.place();
    ++position;
  }
  for (const Call& call : inside.calls_of({"eval"})) {
    if (call.function() == function) return false;
  }
  for (const Call& call : inside.calls()) {
    const bool is_here = call.function() == function && !seekers.include(call);
    if (is_here && !call.may_be_under_no_grad()) return true;
  }
  return false;
}

/// The code that runs in the mode that eval() set: from it to the next change of mode.
struct Stretch {
  Call eval;
  Expr block;
  Function function;
  Expr end;

  Stretch(const Call& start, const Place& model)
      : eval(start), block(start.statement().parent()), function(start.function()) {
    for (const Call& call : model.calls_of({"train", "eval"})) {
      if (is_after(call) && (!end || call < end)) end = call;
    }
  }

  bool is_after(const Expr& spot) const {
    return eval < spot && (block.is(Kind::cell) || spot.is_inside(block)) &&
           spot.function() == function;
  }
  bool is_over(const Expr& spot) const {
    return (end && end < spot) || (!block.is(Kind::cell) && !spot.is_inside(block));
  }
  bool contains(const Expr& spot) const { return is_after(spot) && (!end || spot < end); }
};

std::vector<Pass> passes_after(const SourceView& code, const GradientSeekers& seekers,
                               const Call& eval, const Place& model) {
  std::vector<Pass> passes;
  const Stretch stretch(eval, model);
  for (const Call& call : model.calls()) {
    if (stretch.contains(call)) passes.push_back({call, true});
  }
  const auto& calls = code.calls();
  auto at = std::upper_bound(calls.begin(), calls.end(), eval);
  for (int looked_at = 0; at != calls.end() && looked_at < kFarthest; ++at, ++looked_at) {
    if (stretch.is_over(*at)) break;
    if (!stretch.contains(*at)) continue;
    if (at->method() == "backward") return {};
    for (const Function& callee : at->callees()) {
      if (trains(code, callee.body())) return passes;
      if (passes_through(code, seekers, callee, model, *at)) passes.push_back({*at, false});
    }
  }
  return passes;
}

// A single pass is worth a word where the function is there to make many.
bool is_evaluation(const Call& pass) {
  const std::string_view name = pass.function().name();
  if (pass.in_loop()) return true;
  for (const std::string_view word : {"eval", "valid", "predict", "infer", "score", "sample"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::string message(const Pass& pass, const Call& eval) {
  const std::string name(eval.receiver().text());
  return "`" + std::string(pass.call.callee().text()) + "(…)` runs " +
         (pass.is_direct ? "" : "`" + name + "` ") + "with gradients on: `" + name +
         ".eval()` does not switch them off, and the activations of every layer stay until the "
         "result goes. Put it under `with torch.no_grad():`.";
}

bool yields(const Function& function) { return !function.all(Kind::yield).empty(); }

void add_decorator(const SourceView& code, const Call& eval, bool is_safe, Finding& finding) {
  const Function function = eval.function();
  const std::string torch(code.imported_as("torch"));
  if (!function.is(Kind::function) || torch.empty() || yields(function)) return;
  if (trains(code, function.body())) return;
  const Expr definition =
      function.decorators().empty() ? Expr(function) : function.decorators().front().parent();
  const auto edit = definition.decorated_by("@" + torch + ".no_grad()");
  if (edit)
    finding.fixes.push_back({"Switch gradients off for the whole function", "", {*edit}, is_safe});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  const auto evals = code.calls_of({"eval", "train"});
  if (evals.empty()) return findings;
  const GradientSeekers seekers(code);
  std::set<std::uint32_t> told;
  for (const Call& eval : evals) {
    const Place model = eval.receiver().place();
    if (!model || !switches_to_eval(eval) || eval.may_be_under_no_grad()) continue;
    if (eval.receiver().value().type != ValueType::module || is_framework_method(code, eval))
      continue;
    if (eval.receiver().made_by().callee().dotted().substr(0, 9) == "torch.jit") continue;
    if (is_frozen(model) || seekers.include(eval)) continue;
    if (differentiates(code, eval)) continue;
    for (const Pass& pass : passes_after(code, seekers, eval, model)) {
      if (pass.call.is_discarded() || pass.call.may_be_under_no_grad()) continue;
      if (is_led_back(pass.call)) continue;
      const auto loops = pass.call.loops();
      const Function function = pass.call.function();
      const std::uint32_t region = loops.empty() ? function.id() : loops.front().id();
      if (!told.insert(region).second) continue;
      Finding finding = pass.call.finding(message(pass, eval));
      const bool returned = is_returned(pass.call, function, 0);
      if (loops.empty() && (returned || !is_evaluation(pass.call)))
        finding.severity = Severity::note;
      add_decorator(code, eval, !returned, finding);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::string message(const Holder& holder) {
  return holder.label + " came from a model in evaluation mode with gradients on: its " +
         holder.largest + " keeps " + human(holder.held_bytes) +
         " of activations alive, and no backward pass used them. `eval()` does not switch "
         "gradients "
         "off: run the forward pass under `with torch.inference_mode():`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"evaluations", "Keep the value, cut its graph", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL201", "eval_without_no_grad", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::eval_without_no_grad
