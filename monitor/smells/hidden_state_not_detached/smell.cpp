// A recurrent state that is led on without a cut has the graphs of all batches behind it.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::hidden_state_not_detached {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " was carried through " + std::to_string(holder.count) +
         " forward passes: its " + holder.largest + " keeps " + human(holder.held_bytes) +
         " of their activations alive. Cut it between two batches, as `" + holder.release +
         "` does.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"carried states", "Keep the state, cut its graph", message});
}

using source::Bound;
using source::Field;
using source::Kind;

// A state that a call takes and gives back: `out, state = rnn(x, state)`.
struct Carry {
  Expr statement;
  Call call;
  List<Expr> targets;  ///< All that the call returns, by name.
  List<Expr> states;   ///< Those that it also takes.
};

void collect_targets(const Expr& left, List<Expr>& targets) {
  if (left.is(Kind::tuple) || left.is(Kind::list)) {
    for (const Expr& element : left.children()) collect_targets(element, targets);
  } else if (left.place()) {
    targets.push_back(left);
  }
}

// As itself or in a pair: `cell(x, (h, c))`. `h.detach()` is another value.
bool takes(const Expr& argument, const Place& state) {
  if (argument.is(Kind::keyword)) return takes(argument.child(Field::right), state);
  if (argument.is(Kind::tuple) || argument.is(Kind::list)) {
    for (const Expr& element : argument.children()) {
      if (takes(element, state)) return true;
    }
  }
  return argument.place() == state;
}

Carry carry_of(const Expr& statement) {
  Carry carry{statement, statement.child(Field::right).as_call(), {}, {}};
  if (!carry.call || !statement.is(Kind::assign)) return carry;
  const Expr callee = carry.call.callee();
  collect_targets(statement.child(Field::left), carry.targets);
  for (const Expr& target : carry.targets) {
    for (const Expr& argument : carry.call.children()) {
      if (argument != callee && takes(argument, target.place())) {
        carry.states.push_back(target);
        break;
      }
    }
  }
  return carry;
}

// The first argument is what a layer changes: `x = block(x)` carries nothing from iteration to
// iteration.
bool is_only_input(const Call& call) { return call.children().size() < 3; }

bool detaches(const SourceView& code, const Expr& spot) {
  for (const Call& call : code.calls_in(spot)) {
    const std::string_view name = call.callee().name();
    if (name == "detach_" || name.find("detach") != std::string_view::npos ||
        name.find("repackage") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool is_bound_again(const Carry& carry, const Expr& body) {
  for (const Expr& state : carry.states) {
    for (const PlaceBinding& binding : state.place().bindings()) {
      if (binding.target.is_inside(body) && !binding.target.is_inside(carry.statement)) return true;
    }
  }
  return false;
}

// The class of the model cuts the state itself.
bool is_cut_within(const SourceView& code, const Carry& carry) {
  for (const PlaceBinding& binding : carry.call.callee().made_by().callee().place().bindings()) {
    if (binding.how == Bound::class_definition && detaches(code, binding.target)) return true;
  }
  return false;
}

bool leads_on(const SourceView& code, const Carry& carry) {
  for (const Expr& target : carry.targets) {
    if (code.reaches_backward(target.place())) return true;
    for (const Expr& value : carry.statement.function().returned()) {
      if (value.mentions(target.place())) return true;
    }
  }
  return false;
}

struct Training {
  bool goes_back = false, retains = false, steps = false;
};

Training training_in(const SourceView& code, const Expr& body) {
  Training training;
  for (const Call& call : code.calls_in(body)) {
    if (call.method() == "backward") {
      training.goes_back = true;
      training.retains |= call.argument("retain_graph", 1).is_true();
    }
    training.steps |= call.method() == "step";
  }
  return training;
}

// Empty where nothing is to be told.
std::optional<Severity> severity_of(const SourceView& code, const Carry& carry, const Loop& loop) {
  const Training training = training_in(code, loop.body());
  if (training.goes_back) {
    // Without the flag the second iteration raises an error: nobody lives with that for long.
    if (!training.retains) return Severity::note;
    return training.steps ? Severity::warning : Severity::error;
  }
  if (leads_on(code, carry)) return std::nullopt;
  // Time steps of one sequence are as likely.
  return loop.is_over_data() ? Severity::error : Severity::note;
}

std::string cut_of(const Carry& carry) {
  const std::string name(carry.states.front().text());
  const Expr made = carry.call.callee().made_by().callee();
  if (carry.states.size() > 1) {
    std::string names, values;
    for (const Expr& state : carry.states) {
      names += (names.empty() ? "" : ", ") + std::string(state.text());
      values += (values.empty() ? "" : ", ") + std::string(state.text()) + ".detach()";
    }
    return names + " = " + values;
  }
  if (made.is_dotted({"torch.nn.LSTM", "torch.nn.LSTMCell"}))
    return name + " = tuple(part.detach() for part in " + name + ")";
  return name + " = " + name + ".detach()";
}

bool is_known_layer(const Carry& carry) {
  return carry.states.size() > 1 ||
         carry.call.callee().made_by().callee().is_dotted({"torch.nn.LSTM", "torch.nn.GRU",
                                                           "torch.nn.RNN", "torch.nn.LSTMCell",
                                                           "torch.nn.GRUCell", "torch.nn.RNNCell"});
}

Finding told(const Carry& carry, Severity severity, const Expr& body, bool goes_back) {
  const std::string state(carry.states.front().text());
  Finding finding = carry.statement.finding("`" + state +
                                            "` goes from iteration to iteration with its graph, so "
                                            "the activations of all iterations stay "
                                            "in memory. Cut it between two batches: `" +
                                            cut_of(carry) + "`.");
  finding.severity = severity;
  const auto edit = body.children().back().line_after(cut_of(carry));
  if (is_known_layer(carry) && edit) {
    finding.fixes.push_back(
        {"Cut the graph at the end of each iteration", "", {*edit}, !goes_back});
  }
  return finding;
}

// `self.h = self.cell(x, self.h)` in forward(): each call of the module is one iteration.
bool is_kept_by_module(const SourceView& code, const Carry& carry) {
  const Function function = carry.statement.function();
  if (function.name() != "forward" || !carry.statement.loops().empty()) return false;
  if (!code.is_derived(carry.statement.class_definition(), {"torch.nn.Module"})) return false;
  for (const Expr& state : carry.states) {
    const Expr self = state.child(Field::object);
    if (!self || self.place() != function.parameters().front().place()) return false;
    for (const PlaceBinding& binding : state.place().bindings()) {
      const bool is_start = binding.target.function().name() == "__init__";
      if (!is_start && !binding.target.is_inside(carry.statement)) return false;
    }
  }
  return !detaches(code, carry.statement.class_definition());
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Expr& statement : code.assignments()) {
    const Call call = statement.child(Field::right).as_call();
    if (!call || is_only_input(call)) continue;
    const Carry carry = carry_of(statement);
    if (carry.states.empty()) continue;
    if (carry.call.callee().value().type != ValueType::module) continue;
    if (statement.may_be_under_no_grad() || is_cut_within(code, carry)) continue;
    if (is_kept_by_module(code, carry)) {
      findings.push_back(told(carry, Severity::warning, statement.function().body(), true));
      continue;
    }
    const auto loops = statement.loops();
    if (loops.empty() || statement.function().name() == "forward") continue;
    const Expr body = loops.front().body();
    if (is_bound_again(carry, body) || detaches(code, body)) continue;
    const auto severity = severity_of(code, carry, loops.front());
    if (!severity) continue;
    findings.push_back(told(carry, *severity, body, training_in(code, body).goes_back));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL208", "hidden_state_not_detached", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::hidden_state_not_detached
