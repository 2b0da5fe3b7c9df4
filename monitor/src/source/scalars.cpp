// What can be counted: constants, the iterations of a loop, tensors with a single element.
#include <algorithm>

#include "source/frameworks.hpp"
#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// `k = n + 1`, `n = 4`: what goes through more names and sums is not followed.
constexpr int kMostSteps = 8;
// What is made of more parts is unknown: the search stays linear.
constexpr int kMostParts = 64;
// `zip(names, rows)`, `names = ["a", "b"]`: each side may have another zip behind it.
constexpr int kNamesOfSides = 2;
// Nobody counts further, and a sum of two cannot overflow.
constexpr long long kLargest = 1LL << 40;

// --- constants -----------------------------------------------------------------------------------

// papermill gives these cells other values.
bool is_parameter_of_notebook(const Program& program, const Expr& target) {
  const auto& tags = program.cells[program.cell_of(target.id())].tags;
  return std::find(tags.begin(), tags.end(), "parameters") != tags.end();
}

// Of a variable that nothing else is ever assigned to.
Expr only_value(const Program& program, const Expr& name) {
  if (!name.is(Kind::name)) return {};
  const auto bindings = name.place().bindings();
  const PlaceBinding& only = bindings.front();
  const bool is_known = bindings.size() == 1 && only.how == Bound::assign && only.position < 0 &&
                        !is_parameter_of_notebook(program, only.target);
  return is_known ? only.value : Expr();
}

std::optional<long long> constant_of(const Program& program, const Expr& expression, int depth) {
  if (depth == 0) return std::nullopt;
  if (expression.is(Kind::binary)) {
    const auto left = constant_of(program, expression.first_child(), depth - 1);
    const auto right = constant_of(program, expression.last_child(), depth - 1);
    if (!left || !right || std::max(*left, *right) > kLargest) return std::nullopt;
    if (expression.op() == Operator::add) return *left + *right;
    if (expression.op() == Operator::subtract) return *left - *right;
    return std::nullopt;
  }
  if (!expression.is(Kind::name)) return expression.integer();
  const Expr value = only_value(program, expression);
  return value ? constant_of(program, value, depth - 1) : std::nullopt;
}

bool is_changed_in_place(const Place& place) {
  return !place.calls_of({"append", "extend", "insert", "add", "update"}).empty();
}

std::optional<long long> iterations_over(const Program& program, const Expr& over, int depth);

std::optional<long long> iterations_of_range(const Program& program, const List<Expr>& bounds) {
  if (bounds.empty() || bounds.size() > 3) return std::nullopt;
  const auto bound = [&](std::size_t at) {
    const auto value = constant_of(program, bounds[at], kMostSteps);
    return value && *value <= kLargest ? value : std::nullopt;
  };
  const auto start = bounds.size() == 1 ? 0 : bound(0);
  const auto stop = bound(bounds.size() == 1 ? 0 : 1);
  const auto step = bounds.size() == 3 ? bound(2) : 1;
  if (!start || !stop || !step || *step < 1) return std::nullopt;
  return std::max(0LL, (*stop - *start + *step - 1) / *step);
}

// The shortest of those that are known: it ends with the first that is used up.
std::optional<long long> iterations_of_shortest(const Program& program, const List<Expr>& sides,
                                                int depth) {
  std::optional<long long> least;
  for (const Expr& side : sides) {
    const auto iterations = iterations_over(program, side, depth);
    if (iterations && (!least || *iterations < *least)) least = iterations;
  }
  return least;
}

std::optional<long long> iterations_over(const Program& program, const Expr& over, int depth) {
  if (depth == 0) return std::nullopt;
  if (over.is(Kind::list) || over.is(Kind::tuple) || over.is(Kind::set)) {
    const auto elements = over.children();
    const bool is_known = std::none_of(elements.begin(), elements.end(),
                                       [](const Expr& each) { return each.is(Kind::starred); });
    return is_known ? std::optional(static_cast<long long>(elements.size())) : std::nullopt;
  }
  if (const Expr value = only_value(program, over)) {
    // What begins empty is filled in some way.
    const bool is_filled = value.is(Kind::list) && value.children().empty();
    if (is_filled || is_changed_in_place(over.place())) return std::nullopt;
    return iterations_over(program, value, depth - 1);
  }
  const Call call = over.as_call();
  const auto arguments = call.arguments();
  if (call.callee().is_dotted({"builtins.range"})) return iterations_of_range(program, arguments);
  if (call.callee().is_dotted({"builtins.zip"}))
    return iterations_of_shortest(program, arguments, std::min(depth - 1, kNamesOfSides));
  const bool keeps_count = call.callee().is_dotted(
      {"builtins.enumerate", "builtins.reversed", "builtins.sorted", "builtins.list",
       "builtins.tuple", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm"});
  return keeps_count ? iterations_over(program, arguments.front(), depth - 1) : std::nullopt;
}

// --- tensors of one element ----------------------------------------------------------------------

// Keeps the shape, or takes one number out.
bool keeps_scalar(std::string_view method) {
  return is_one_of(method, {"detach", "clone", "cpu",   "cuda",   "to",  "float", "double", "half",
                            "item",   "abs",   "sqrt",  "square", "exp", "log",   "pow",    "neg",
                            "mean",   "sum",   "clamp", "add",    "sub", "mul",   "div"});
}

// `reduction="none"` returns a loss for each row.
bool reduces(const Call& call) {
  const Expr reduction = call.keyword("reduction");
  const Expr older = call.keyword("reduce");
  return !older && (!reduction || is_one_of(reduction.string(), {"mean", "sum", "batchmean"}));
}

// Torch refuses a pass without a gradient from anything but one number.
bool has_own_backward_pass(const Program& program, const Place& place) {
  const auto passes = place.calls_of({"backward"});
  return std::any_of(passes.begin(), passes.end(), [&](const Call& pass) {
    return backward_begins(program, pass) == Begins::at_receiver && !pass.keyword("gradient");
  });
}

/// Follows an expression through what it is made of.
class OneNumber {
 public:
  explicit OneNumber(const Program& program) : program_(program) {}

  bool is(const Expr& expression) {
    if (--left_ < 0) return false;
    switch (expression.kind()) {
      case Kind::integer:
      case Kind::floating:
        return true;
      case Kind::unary:
        return is(expression.first_child());
      case Kind::binary:
        return is(expression.first_child()) && is(expression.last_child());
      case Kind::call:
        return is_call(expression.as_call());
      case Kind::attribute:
        return is_loss_of_output(expression) || is_place(expression);
      case Kind::name:
        return expression.value().type == ValueType::number || is_place(expression);
      default:
        return false;
    }
  }

 private:
  bool all(const List<Expr>& expressions) {
    return std::all_of(expressions.begin(), expressions.end(),
                       [&](const Expr& each) { return is(each); });
  }

  // Of a model of Hugging Face.
  static bool is_loss_of_output(const Expr& attribute) {
    return attribute.name() == "loss" &&
           attribute.child(Field::object).value().type == ValueType::model_output;
  }

  bool is_call(const Call& call) {
    if (is_reduction(call)) {
      const Expr reduced = call.receiver() && call.callee().dotted().empty()
                               ? call.receiver()
                               : call.arguments().front();
      return reduced.value().is_tensor();
    }
    if (made_by(call.callee().dotted()) == Makes::loss) return reduces(call);
    if (call.callee().value().type == ValueType::loss_function) {
      const Call made = call.callee().made_by();
      return made && reduces(made);
    }
    const auto functions = call.callees();
    if (!functions.empty()) {
      return std::all_of(functions.begin(), functions.end(), [&](const Function& function) {
        const auto returned = function.returned();
        return !returned.empty() && all(returned);
      });
    }
    List<Expr> tensors;
    for (const Expr& argument : call.arguments()) {
      if (argument.value().is_tensor()) tensors.push_back(argument);
    }
    return call.receiver() && keeps_scalar(call.method()) && is(call.receiver()) && all(tensors);
  }

  bool is_place(const Expr& expression) {
    const Place place = expression.place();
    if (has_own_backward_pass(program_, place)) return true;
    List<Expr> values;
    for (const PlaceBinding& binding : place.bindings()) {
      if (binding.how == Bound::deleted) continue;
      const bool is_whole = binding.how == Bound::assign || binding.how == Bound::augmented;
      if (!is_whole || binding.position >= 0) return false;
      values.push_back(binding.value);
    }
    return !values.empty() && all(values);
  }

  const Program& program_;
  int left_ = kMostParts;
};

}  // namespace

// `torch.mean(x)` and `x.mean()`: with a dimension it is no single number.
bool is_reduction(const Call& call) {
  if (!is_one_of(call.callee().name(), {"mean", "sum", "norm", "prod", "max", "min"})) return false;
  const auto given = call.children();
  return std::none_of(given.begin(), given.end(),
                      [](const Expr& each) {
                        return each.is(Kind::starred) ||
                               (each.is(Kind::keyword) && is_one_of(each.name(), {"dim", "axis"}));
                      }) &&
         call.arguments().size() == (call.callee().dotted().empty() ? 0u : 1u);
}

}  // namespace xleak::monitor::source

namespace xleak::monitor {

std::optional<long long> Expr::constant() const {
  return *this ? source::constant_of(*program_, *this, source::kMostSteps) : std::nullopt;
}

std::optional<long long> Loop::iterations() const {
  return *this ? source::iterations_over(*program_, iterable(), source::kMostSteps) : std::nullopt;
}

bool Expr::is_scalar() const { return *this && source::OneNumber(*program_).is(*this); }

}  // namespace xleak::monitor
