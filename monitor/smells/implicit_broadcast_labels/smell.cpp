// Predictions of shape (N, 1) meet labels of shape (N,): the difference has N times N numbers.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::implicit_broadcast_labels {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// error = a - b; squared = error ** 2; mean(squared)
constexpr int kSteps = 4;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct Pair {
  Expr left, right;
};

// The last assignment of a name before a spot, in the same function.
Expr assigned(const Expr& name) {
  Expr value;
  for (const PlaceBinding& binding : name.place().bindings()) {
    if (binding.target.function() != name.function() || !(binding.target < name)) continue;
    value = binding.how == Bound::assign && binding.position < 0 ? binding.value : Expr();
  }
  return value;
}

bool is_elementwise(const Expr& callee) {
  return callee.is_dotted({"tensorflow.abs", "tensorflow.square", "tensorflow.math.abs",
                           "tensorflow.math.square", "tensorflow.pow", "tensorflow.math.pow",
                           "tensorflow.cast", "numpy.abs", "numpy.square", "numpy.absolute",
                           "keras.ops.abs", "keras.ops.square", "keras.backend.abs",
                           "keras.backend.square"});
}

bool combines(const Expr& callee) {
  return callee.is_dotted({"tensorflow.subtract", "tensorflow.math.subtract", "tensorflow.multiply",
                           "tensorflow.equal", "tensorflow.math.squared_difference",
                           "tensorflow.math.equal", "keras.ops.subtract", "numpy.subtract"});
}

// The two operands below squares and absolute values.
Pair combined(const Expr& expression, int steps) {
  if (!expression || steps == 0) return {};
  const auto parts = expression.children();
  if (expression.is(Kind::binary) && parts.size() == 2) {
    if (expression.op() == source::Operator::subtract) return {parts[0], parts[1]};
    return parts[1].is_literal() ? combined(parts[0], steps - 1) : Pair();
  }
  if (expression.is(Kind::name)) return combined(assigned(expression), steps - 1);
  const Call call = expression.as_call();
  const auto arguments = call ? call.arguments() : List<Expr>();
  if (combines(call.callee()) && arguments.size() == 2) return {arguments[0], arguments[1]};
  const bool goes_on = is_elementwise(call.callee()) && !arguments.empty();
  return goes_on ? combined(arguments[0], steps - 1) : Pair();
}

// The model that an operand is the plain answer of.
Expr model_behind(const Expr& operand) {
  const Call made = operand.made_by();
  const bool is_plain =
      made == operand || (made.target() && made.target().place() == operand.place());
  if (!made || !is_plain || !(made == operand || assigned(operand) == made)) return {};
  const Expr model = made.method() == "predict" ? made.receiver() : made.callee();
  return model.value().type == ValueType::keras_model ? model : Expr();
}

bool is_dense_one(const Expr& expression) {
  const Call layer = expression.as_call();
  return layer.callee().is_dotted({"keras.layers.Dense"}) &&
         layer.argument("units", 0).integer() == 1;
}

bool ends_in_dense_one(const Expr& model) {
  const Call made = model.made_by();
  if (!made) return false;
  const auto added = made.target().place().calls_of({"add"});
  if (!added.empty()) {
    const auto arguments = added.back().arguments();
    return !arguments.empty() && is_dense_one(arguments.front());
  }
  const Expr layers = made.argument("layers", 0);
  if (layers.is(Kind::list))
    return !layers.children().empty() && is_dense_one(layers.children().back());
  return is_dense_one(made.argument("outputs", 1).made_by().callee());
}

bool is_called_label(const Expr& operand) {
  const std::string_view name = operand.name();
  if (contains(name, "pred") || contains(name, "hat")) return false;
  return name == "y" || name.substr(0, 2) == "y_" || contains(name, "label") ||
         contains(name, "target") || contains(name, "truth");
}

bool is_flat_list(const Expr& list) {
  if (!list.is(Kind::list)) return false;
  for (const Expr& element : list.children()) {
    if (!element.is_literal()) return false;
  }
  return !list.children().empty();
}

// `frame["wage"].values` and its like.
bool is_column(Expr value) {
  if (const Call call = value.as_call())
    value = call.method() == "to_numpy" ? call.receiver() : Expr();
  if (value.is(Kind::attribute) && value.name() == "values") value = value.child(Field::object);
  const auto parts = value.children();
  return value.is(Kind::subscript) && parts.size() == 2 && parts[1].is(Kind::string);
}

// It surely has one dimension.
bool is_flat(const Expr& operand) {
  const Expr value = operand.is(Kind::name) ? assigned(operand) : operand;
  if (is_column(value)) return true;
  const Call call = value.as_call();
  if (!call) return false;
  const Expr callee = call.callee();
  if (call.method() == "astype") return is_flat(call.receiver());
  const Expr first = call.argument("shape", 0);
  if (callee.is_dotted({"numpy.array", "numpy.asarray", "tensorflow.constant"}))
    return is_flat_list(first);
  if (callee.is_dotted({"numpy.random.rand", "numpy.random.randn"}))
    return call.arguments().size() == 1;
  if (callee.is_dotted({"numpy.zeros", "numpy.ones", "tensorflow.zeros", "tensorflow.ones",
                        "tensorflow.random.normal", "tensorflow.random.uniform"}))
    return first.integer() ||
           ((first.is(Kind::tuple) || first.is(Kind::list)) && first.children().size() == 1);
  return callee.is_dotted({"numpy.linspace", "numpy.arange"});
}

// Somebody thought of the shape.
bool is_shaped(const Expr& operand) {
  const std::string_view text = operand.is(Kind::name) ? assigned(operand).text() : operand.text();
  for (const std::string_view word : {"reshape", "squeeze", "expand_dims", "newaxis", "None]",
                                      "flatten", "ravel", "[[", ", 0]"}) {
    if (contains(text, word)) return true;
  }
  return false;
}

List<Call> full_reductions(const SourceView& code) {
  List<Call> result;
  for (const Call& call : code.calls_to(
           {"tensorflow.reduce_mean", "tensorflow.reduce_sum", "tensorflow.math.reduce_mean",
            "tensorflow.math.reduce_sum", "keras.ops.mean", "keras.ops.sum", "keras.backend.mean",
            "keras.backend.sum", "numpy.mean", "numpy.sum"})) {
    if (call.children().size() == 2) result.push_back(call);
  }
  return result;
}

Finding told(const SourceView& code, const Pair& pair, const Expr& answer, const Expr& label,
             bool is_certain) {
  Finding finding = pair.left.finding("`" + std::string(answer.text()) +
                                      "` has the shape (N, 1): with `" + std::string(label.text()) +
                                      "` of shape (N,) the result has N times N numbers, and its "
                                      "mean is another value. Squeeze the "
                                      "last axis first.");
  if (!is_certain) finding.severity = Severity::note;
  const std::string tf(code.imported_as("tensorflow"));
  // An axis of another length than 1 cannot be squeezed.
  if (tf.empty() || !is_certain) return finding;
  finding.fixes.push_back(
      {"Squeeze the last axis",
       "",
       {answer.replaced_by(tf + ".squeeze(" + std::string(answer.text()) + ", -1)")},
       /*safe=*/false});
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras")) return findings;
  for (const Call& reduction : full_reductions(code)) {
    const Pair pair =
        combined(reduction.arguments().empty() ? Expr() : reduction.arguments()[0], kSteps);
    if (!pair.left) continue;
    const Expr left = model_behind(pair.left);
    const Expr right = model_behind(pair.right);
    if (static_cast<bool>(left) == static_cast<bool>(right)) continue;
    const Expr label = left ? pair.right : pair.left;
    const Expr answer = left ? pair.left : pair.right;
    if (is_shaped(label)) continue;
    const bool is_column = ends_in_dense_one(left ? left : right);
    if (is_column ? !is_flat(label) && !is_called_label(label) : !is_called_label(label)) continue;
    findings.push_back(told(code, pair, answer, label, is_column && is_flat(label)));
  }
  return findings;
}

std::string measured(const Holder& holder) {
  return holder.label + " met a column, (N, 1), with a vector, (N,): the result is a square of " +
         holder.largest +
         ", and its mean or sum is that of all pairs. Squeeze the last axis of the predictions: "
         "`tf.squeeze(…, -1)`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"tensorflow square", "", measured});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL510", "implicit_broadcast_labels", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::implicit_broadcast_labels
