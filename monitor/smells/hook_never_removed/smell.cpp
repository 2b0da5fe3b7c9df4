// A hook whose handle is gone runs for the life of its module, and fills what it fills.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::hook_never_removed {
namespace {

// Hooks run whatever they keep: their number is worth a word from the first one too many.
constexpr std::int64_t kUnknown = 0;
constexpr std::int64_t kWorthBytes = 1 << 20;

std::string of_filling(const Holder& holder) {
  return (holder.count == 1 ? "A hook" : std::to_string(holder.count) + " hooks") + " in " +
         holder.label + (holder.count == 1 ? " fills " : " fill ") + holder.largest +
         ", which keeps " + human(holder.held_bytes) +
         " alive, and no handle is left to remove it. Empty and remove with `" + holder.release +
         "`. Keep the handle, and call its `.remove()`.";
}

std::string of_repeated(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) +
         " hooks from several runs of one cell. Remove the later ones with `" + holder.release +
         "`. Keep the handle, and call its `.remove()` before the next run.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"hooks that fill", "Empty and remove", of_filling});
  for (const Holder& holder : session.holders) {
    SessionView one;
    one.cell = session.cell;
    one.holders = {holder};
    const auto least = holder.held_bytes >= kWorthBytes ? kWorthBytes : kUnknown;
    for (Finding& finding : holder_findings(
             one, {"repeated hooks", "Remove all but the first", of_repeated, 1, least}))
      findings.push_back(std::move(finding));
  }
  return findings;
}

constexpr const char* kRemove = " Keep the handle, and call its `.remove()`.";

// Some `.remove()` without an argument is that of a handle; where one is, no order is guessed.
bool removes_handles(const SourceView& code) {
  for (const Call& call : code.calls_of({"remove"})) {
    if (call.children().size() == 1) return true;
  }
  return false;
}

// Whoever gets the handle may remove it.
bool is_handed_on(const Call& call) {
  for (Expr at = call.parent(); at; at = at.parent()) {
    if (at.is(source::Kind::return_statement) || at.is(source::Kind::with_block) ||
        at.is(source::Kind::lambda) || at.is(source::Kind::yield)) {
      return true;
    }
    const Call around = at.as_call();
    if (around && around.method() != "append" && around.method() != "extend") return true;
    if (at.parent().is(source::Kind::block) || at.parent().is(source::Kind::cell)) break;
  }
  const Function function = call.function();
  for (const Expr& value : function.returned()) {
    if (call.target().place() && value.mentions(call.target().place())) return true;
  }
  return false;
}

bool is_bound_within(const Expr& object, const Expr& spot) {
  for (const PlaceBinding& binding : object.root().place().bindings()) {
    if (binding.how != source::Bound::parameter && binding.target.is_inside(spot)) return true;
  }
  return false;
}

// `self.layer` and `model.fc` belong to `self` and `model`.
Expr owner_of(Expr object) {
  object = object.root();
  while (object.is(source::Kind::attribute)) {
    object = object.child(source::Field::object).root();
  }
  return object;
}

// A loop of the notebook, or over a loader; in a library it may be over anything.
bool is_over_data(const Loop& loop) {
  return !loop.function() || loop.iterable().value().type == ValueType::loader;
}

// The same module gets it once more in each iteration: it was not made or chosen in the loop.
bool is_repeated(const Expr& spot, const Expr& object, int levels) {
  for (const Loop& loop : spot.loops()) {
    if (loop.is_over_parts() || is_bound_within(object, loop)) return false;
  }
  if (!spot.loops().empty()) return is_over_data(spot.loops().front());
  const Function function = spot.function();
  if (!function || levels == 0 || is_bound_within(object, function.body())) return false;
  for (const Call& site : function.call_sites()) {
    Expr given = object;
    int position = function.is_method() ? -1 : 0;
    for (const Expr& parameter : function.parameters()) {
      if (parameter.place() && parameter.place() == object.place() && position >= 0) {
        given = owner_of(site.argument(parameter.name(), position));
      }
      ++position;
    }
    if (given && is_repeated(site, given, levels - 1)) return true;
  }
  return false;
}

// Hooks that are moved from one module to another: each iteration brings its own.
bool is_another_hook(const Call& call, const Expr& hook) {
  for (const Loop& loop : call.loops()) {
    for (const PlaceBinding& binding : hook.place().bindings()) {
      if (binding.how == source::Bound::loop && binding.target.is_inside(loop)) return true;
    }
  }
  return false;
}

enum class Keeps { unknown, nothing, latest, values, tensors };

// `out.cpu().numpy()` has no graph.
bool is_cut(Expr value) {
  while (const Call call = value.as_call()) {
    if (is_one_of(call.method(), {"detach", "numpy", "item", "tolist", "size", "argmax", "dim"})) {
      return true;
    }
    value = call.receiver();
  }
  return value.is(source::Kind::attribute);
}

// `out`, `out.cpu()` and `args[0]` keep the tensor of a parameter; `len(out)` does not.
bool keeps_tensor(const Expr& value, const Function& hook, bool of_module) {
  if (value.value().graph == HasGraph::no || is_cut(value)) return false;
  const Place kept = value.root().place();
  // The first that the hook of a module gets is the module.
  int position = of_module ? (hook.is_method() ? -2 : -1) : 0;
  for (const Expr& parameter : hook.parameters()) {
    if (kept && position++ >= 0 && kept == parameter.place()) return true;
  }
  return false;
}

// `self.map = output`, `latest[name] = output`: the last batch, whatever the number of passes.
bool writes_over(const SourceView& code, const Function& hook) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(source::Field::left);
    const bool is_outside = left.root() != left || left.place().outlives(statement);
    if (statement.is_inside(hook.body()) && is_outside) return true;
  }
  return false;
}

Keeps kept_by(const SourceView& code, const Function& hook, bool of_module) {
  Keeps kept = writes_over(code, hook) ? Keeps::latest : Keeps::nothing;
  for (const Store& store : code.stores()) {
    if (!store.site.is_inside(hook.body()) || store.index) continue;
    const Place container = store.container.root().place();
    if (!container || !container.outlives(store.site) || code.is_bounded(store)) continue;
    if (!container.calls_of({"clear", "pop", "popleft"}).empty()) continue;
    if (keeps_tensor(store.value, hook, of_module)) return Keeps::tensors;
    const ValueType type = store.value.value().type;
    if (type == ValueType::tensor || type == ValueType::array) kept = Keeps::values;
  }
  return kept;
}

Keeps kept_by(const SourceView& code, const Expr& hook, bool of_module) {
  const auto bodies = hook.functions();
  if (bodies.empty()) return Keeps::unknown;
  Keeps kept = Keeps::nothing;
  for (const Function& body : bodies) kept = std::max(kept, kept_by(code, body, of_module));
  return kept;
}

// A hook of a tensor goes with it, unless it is a Parameter.
bool is_of_temporary(const Call& call) {
  if (call.method() != "register_hook") return false;
  const Expr tensor = call.receiver();
  if (tensor.name() == "weight" || tensor.name() == "bias") return false;
  return !tensor.value().leaf || call.function();
}

// Running the cell again adds one more to a model that an earlier cell made.
bool is_added_by_rerun(const Call& call, const Expr& owner) {
  if (!call.at_top_level()) return false;
  const auto bindings = owner.place().bindings();
  return !bindings.empty() && bindings.front().target.cell() < call.cell();
}

Finding told(const Call& call, Keeps kept, bool repeats) {
  const std::string hook = "`" + std::string(call.method()) + "`";
  Finding finding = call.finding("");
  if (kept == Keeps::tensors) {
    finding.severity = Severity::error;
    finding.message = "The hook of this " + hook +
                      " is never removed and keeps each tensor that it gets, with its graph: "
                      "memory grows with every pass. Store `.detach()` of it.";
  } else if (repeats) {
    finding.severity = Severity::error;
    finding.message =
        "This " + hook +
        " adds one more hook in each iteration, and none is removed: passes get slower "
        "and what the hooks hold stays.";
  } else if (kept == Keeps::values) {
    finding.severity = Severity::warning;
    finding.message =
        "The hook of this " + hook + " is never removed: what it collects grows with every pass.";
  } else {
    finding.message = "No handle is left to remove the hook of this " + hook +
                      ": each run of this code adds one more.";
  }
  finding.message += kRemove;
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const auto calls = code.calls_of(
      {"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
       "register_full_backward_pre_hook", "register_backward_hook", "register_hook",
       "register_state_dict_pre_hook", "register_load_state_dict_post_hook",
       "register_module_forward_hook", "register_module_forward_pre_hook",
       "register_module_full_backward_hook", "register_post_accumulate_grad_hook"});
  if (calls.empty() || removes_handles(code)) return findings;
  for (const Call& call : calls) {
    if (is_of_temporary(call) || is_handed_on(call)) continue;
    const Expr owner = owner_of(call.receiver());
    const Expr hook = call.argument("hook", 0);
    const Keeps kept = kept_by(code, hook, call.method() != "register_hook");
    const bool repeats = is_repeated(call, owner, 2) && !is_another_hook(call, hook);
    Finding finding = told(call, kept, repeats);
    const bool certain = kept == Keeps::nothing && is_added_by_rerun(call, owner);
    if (!finding.severity) finding.severity = certain ? Severity::warning : Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL107", "hook_never_removed", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::hook_never_removed
