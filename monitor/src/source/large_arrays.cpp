// Which arrays are large, as far as the source says.
#include <algorithm>

#include "affix.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::tensorflow {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// What is baked into a graph below 64 KiB, in numbers of eight bytes, costs less than the finding.
constexpr long long kManyElements = (64 << 10) / 8;

// A literal, or a name that is one: `SIZE = 512`.
std::optional<long long> visible_integer(const Expr& expression) {
  const auto bindings = expression.place().bindings();
  const bool is_constant = bindings.size() == 1 && bindings.front().how == Bound::assign;
  return is_constant ? bindings.front().value.integer() : expression.integer();
}

std::optional<long long> product(const List<Expr>& dimensions) {
  long long count = 1;
  for (const Expr& dimension : dimensions) {
    const auto size = visible_integer(dimension);
    if (!size) return std::nullopt;
    // Larger than large is not counted: numbers in a source may be of any size.
    count = std::min(count, kManyElements) * std::clamp(*size, 1LL, kManyElements);
  }
  return count;
}

std::optional<long long> elements_of_shape(const Expr& shape) {
  if (shape.is(Kind::tuple) || shape.is(Kind::list)) return product(shape.children());
  return visible_integer(shape);
}

// How many elements the call of NumPy makes, where the source says so.
std::optional<long long> visible_elements(const Call& made) {
  const Expr callee = made.callee();
  const Expr first = made.argument("shape", 0);
  if (callee.is_dotted({"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full"}))
    return elements_of_shape(first);
  if (callee.is_dotted({"numpy.random.rand", "numpy.random.randn"}))
    return product(made.arguments());
  if (callee.is_dotted({"numpy.arange"}) && made.arguments().size() == 1)
    return visible_integer(first);
  if (callee.is_dotted({"numpy.eye", "numpy.identity"})) return product({first, first});
  if (callee.is_dotted({"numpy.linspace"})) return visible_integer(made.argument("num", 2));
  return elements_of_shape(made.keyword("size"));
}

// `rng.random((n, m))`, `rng.normal(size=n)` of `rng = numpy.random.default_rng()`.
std::optional<long long> drawn_elements(const Call& drawn) {
  if (!drawn.receiver().made_by().callee().is_dotted({"numpy.random.default_rng"}))
    return std::nullopt;
  const bool size_is_first = is_one_of(drawn.method(), {"random", "standard_normal"});
  return elements_of_shape(size_is_first ? drawn.argument("size", 0) : drawn.keyword("size"));
}

// Data from a file, which nobody loads to have a few numbers.
bool loads_data(const Expr& callee) {
  return callee.is_dotted({"numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile",
                           "numpy.memmap"}) ||
         starts_with(callee.dotted(), "pandas.read_");
}

// `data.astype("float32")`, `frame.values`, `frame.to_numpy()`: still the same data.
Expr without_conversion(Expr expression) {
  const Call call = expression.as_call();
  if (call && (call.method() == "astype" || call.method() == "to_numpy" ||
               call.method() == "copy" || call.method() == "reshape"))
    return call.receiver();
  if (expression.is(Kind::attribute) && (expression.name() == "values" || expression.name() == "T"))
    return expression.child(Field::object);
  return {};
}

bool is_large_array(const Expr& expression, int depth) {
  if (!expression || depth == 0) return false;
  const Call call = expression.as_call();
  if (call && loads_data(call.callee())) return true;
  if (call && call.callee().is_dotted({"numpy.array", "numpy.asarray"}))
    return is_large_array(call.argument("object", 0), depth - 1);
  if (call && starts_with(call.callee().dotted(), "numpy.")) {
    const auto count = visible_elements(call);
    return count && *count >= kManyElements;
  }
  if (call && drawn_elements(call).value_or(0) >= kManyElements) return true;
  if (const Expr inner = without_conversion(expression)) return is_large_array(inner, depth - 1);
  const Place place = expression.place();
  if (!place) return false;
  bool large = false;
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how == Bound::deleted) continue;
    if (binding.how != Bound::assign || binding.position >= 0) return false;
    if (!is_large_array(binding.value, depth - 1)) return false;
    large = true;
  }
  return large;
}

}  // namespace

bool is_large_array(const Expr& expression) {
  constexpr int kSteps = 4;
  return is_large_array(expression, kSteps);
}

}  // namespace xleak::monitor::tensorflow
