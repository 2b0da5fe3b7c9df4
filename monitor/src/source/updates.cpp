// What is made from itself, and what is led back through the graph.
#include <algorithm>

#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// loss = a + b; total = loss / n; parts.append(total); sum(parts).backward(): what is made of a
// value by way of more places than this is not followed.
constexpr std::size_t kMostPlaces = 24;

// An element has no place of its own: d[k] is the same where it is written the same.
bool is_same(const Expr& expression, const Expr& target) {
  if (target.place()) return expression.place() == target.place();
  return expression.kind() == target.kind() && expression.text() == target.text();
}

bool contains(const Expr& expression, const Expr& target) {
  if (target.place()) return expression.mentions(target.place());
  for (const Expr& element : expression.all(target.kind())) {
    if (is_same(element, target)) return true;
  }
  return false;
}

// The operands of sums and products and the arguments of calls, down to what is not one of these.
void collect_operands(const Expr& expression, const Expr& target, List<Expr>& added) {
  if (is_same(expression, target)) return;
  const Kind kind = expression.kind();
  const bool splits = kind == Kind::binary || kind == Kind::tuple || kind == Kind::list ||
                      kind == Kind::conditional || kind == Kind::keyword;
  if (!contains(expression, target) && kind != Kind::binary) {
    added.push_back(expression);
    return;
  }
  if (!splits && kind != Kind::call) {
    added.push_back(expression);
    return;
  }
  const Expr callee = expression.child(Field::callee);
  for (const Expr& child : expression.children()) {
    if (child != callee) collect_operands(child, target, added);
  }
}

bool is_added(const Expr& value, const Expr& target) {
  if (is_same(value, target)) return true;
  if (value.is(Kind::conditional)) {
    for (const Expr& branch : value.children()) {
      if (is_added(branch, target)) return true;
    }
  }
  const Call call = value.as_call();
  const std::string_view name = call.callee().name();
  const bool combines = name == "max" || name == "maximum" || name == "min" || name == "minimum" ||
                        name == "lerp" || name == "add" || name == "sum" || name == "where";
  if (!combines && !value.is(Kind::binary)) return false;
  const auto parts = call ? call.children() : value.children();
  for (const Expr& part : parts) {
    if (part != call.callee() && is_added(part, target)) return true;
  }
  return is_added(call.receiver(), target);
}

bool is_backward(const Call& call, const Expr& use) {
  if (call.callee().is_dotted({"torch.autograd.grad", "torch.autograd.backward"}))
    return use.is_inside(call);
  if (!is_called_backward(call.method())) return false;
  // What a method of the program does with its arguments is in the program.
  if (!call.callees().empty()) return false;
  if (!use.is_inside(call.callee())) return use.is_inside(call);
  return call.method() == "backward" &&
         (call.arguments().empty() || call.receiver().value().is_tensor());
}

/// Follows a value through what is made of it, to a backward pass.
class WayToBackward {
 public:
  /// in_doubt: the answer for a value that leaves the program.
  explicit WayToBackward(bool in_doubt) : in_doubt_(in_doubt) {}

  bool from(xleak::monitor::Place place) {
    if (!place) return false;
    if (std::find(seen_.begin(), seen_.end(), place) != seen_.end()) return false;
    if (seen_.size() >= kMostPlaces) return in_doubt_;
    seen_.push_back(place);
    const auto uses = place.uses();
    return std::any_of(uses.begin(), uses.end(), [&](const Expr& use) { return of_use(use); });
  }

 private:
  bool of_use(const Expr& use) {
    if (in_doubt_ && use.under_no_grad()) return false;
    for (Expr at = use; at; at = at.parent()) {
      if (const Call call = at.as_call()) {
        if (in_doubt_ && is_cut(call, use)) return false;
        if (is_backward(call, use) || of_argument(call, use)) return true;
      }
      if (at.is(Kind::return_statement) && of_return(at)) return true;
      const bool binds =
          at.is(Kind::assign) || at.is(Kind::augmented_assign) || at.is(Kind::for_loop);
      if (binds && use.is_inside(at.child(Field::right)) && of_target(at.child(Field::left))) {
        return true;
      }
      if (at.parent().is(Kind::block) || at.parent().is(Kind::cell)) break;
    }
    return false;
  }

  bool of_target(const Expr& target) {
    if (from(target.root().place())) return true;
    if (!target.is(Kind::tuple) && !target.is(Kind::list)) return false;
    for (const Expr& part : target.children()) {
      if (of_target(part)) return true;
    }
    return false;
  }

  // parts.append(loss), and what a function of the program does with its parameter.
  bool of_argument(const Call& call, const Expr& use) {
    if (use.is_inside(call.callee())) return false;
    if (is_one_of(call.method(), {"append", "appendleft", "extend", "insert", "add"}) &&
        from(call.receiver().root().place())) {
      return true;
    }
    for (const Function& function : call.callees()) {
      for (const Expr& parameter : parameters_for(call, function, use)) {
        if (from(parameter.place())) return true;
      }
    }
    return false;
  }

  static List<Expr> parameters_for(const Call& call, const Function& function, const Expr& use) {
    List<Expr> result;
    int position = function.is_method() ? -1 : 0;
    for (const Expr& parameter : function.parameters()) {
      const Expr given = call.argument(parameter.name(), position < 0 ? 1 << 20 : position);
      if (use.is_inside(given)) result.push_back(parameter);
      ++position;
    }
    return result;
  }

  bool of_return(const Expr& statement) {
    const Function function = statement.function();
    // The trainer of a framework leads it back.
    if (is_one_of(function.name(), {"training_step", "compute_loss", "closure"})) return true;
    // A forward pass is called by the name of the module.
    if (in_doubt_ && (function.call_sites().empty() || function.name() == "forward")) return true;
    for (const Call& site : function.call_sites()) {
      if (std::find(sites_.begin(), sites_.end(), site) != sites_.end()) continue;
      sites_.push_back(site);
      if (of_use(site)) return true;
    }
    return false;
  }

  // `use.detach()`, `crit(use).item()`.
  static bool is_cut(const Call& call, const Expr& use) {
    return is_one_of(call.method(), {"detach", "item", "tolist", "numpy"}) &&
           use.is_inside(call.receiver());
  }

  bool in_doubt_;
  std::vector<xleak::monitor::Place> seen_;
  List<Expr> sites_;
};

}  // namespace

std::vector<Update> find_updates(const Program& program) {
  std::vector<Update> updates;
  for (const Expr& statement : program.assignments) {
    const Expr target = statement.child(Field::left);
    const Expr value = statement.child(Field::right);
    if (!target || !value || target.is(Kind::tuple)) continue;
    Update update{statement, target, value, {}};
    if (statement.is(Kind::augmented_assign)) {
      collect_operands(value, target, update.added);
    } else {
      if (!contains(value, target)) continue;
      collect_operands(value, target, update.added);
    }
    updates.push_back(std::move(update));
  }
  return updates;
}

bool reaches_backward(xleak::monitor::Place place) { return WayToBackward(false).from(place); }

bool may_reach_backward(xleak::monitor::Place place) { return WayToBackward(true).from(place); }

}  // namespace xleak::monitor::source

namespace xleak::monitor {

bool Update::is_sum() const {
  return site.is(source::Kind::augmented_assign) || source::is_added(value, target);
}

}  // namespace xleak::monitor
