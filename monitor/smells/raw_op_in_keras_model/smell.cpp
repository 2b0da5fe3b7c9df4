// An operation of TensorFlow is applied to a symbolic tensor of Keras.
#include <algorithm>

#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::raw_op_in_keras_model {
namespace {

using source::Kind;

struct Twin {
  std::string_view operation;
  std::string_view of_keras;
};

// The same arguments in the same order.
constexpr Twin kTwins[] = {
    {"reshape", "reshape"},
    {"transpose", "transpose"},
    {"add", "add"},
    {"subtract", "subtract"},
    {"multiply", "multiply"},
    {"matmul", "matmul"},
    {"expand_dims", "expand_dims"},
    {"squeeze", "squeeze"},
    {"concat", "concatenate"},
    {"stack", "stack"},
    {"abs", "abs"},
    {"exp", "exp"},
    {"square", "square"},
    {"sqrt", "sqrt"},
    {"reduce_mean", "mean"},
    {"reduce_sum", "sum"},
    {"reduce_max", "max"},
    {"maximum", "maximum"},
    {"minimum", "minimum"},
    {"tanh", "tanh"},
    {"cast", "cast"},
};

bool is_symbolic(const Expr& expression) {
  if (expression.is(Kind::list) || expression.is(Kind::tuple)) {
    const auto elements = expression.children();
    return std::any_of(elements.begin(), elements.end(), is_symbolic);
  }
  return expression.value().type == ValueType::keras_tensor;
}

bool is_raw(const Call& call) {
  if (!tensorflow::is_operation(call)) return false;
  const auto arguments = call.arguments();
  return std::any_of(arguments.begin(), arguments.end(), is_symbolic);
}

// `tf.transpose(tf.reshape(x))` is told once.
bool is_part_of_raw(const Call& call) {
  const Call above = call.parent().as_call();
  return above && above.callee() != call && is_raw(above);
}

void add_fix(const SourceView& code, const Call& call, Finding& finding) {
  const std::string keras(code.imported_as("keras"));
  const bool has_keywords = call.arguments().size() + 1 != call.children().size();
  // tf_keras is Keras 2, which has no operations of its own.
  if (keras.empty() || has_keywords || code.has_name("tf_keras")) return;
  for (const Expr& inner : call.all(Kind::call)) {
    if (inner != call && is_raw(inner.as_call())) return;
  }
  for (const Twin& twin : kTwins) {
    if (call.callee().name() != twin.operation) continue;
    const std::string text = keras + ".ops." + std::string(twin.of_keras);
    finding.fixes.push_back({"Take the operation of Keras",
                             "",
                             {call.callee().replaced_by(text)},
                             /*safe=*/false});
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const bool has_symbols = code.uses("keras.Input") || code.uses("keras.layers.Input");
  if (!has_symbols || !code.uses("tensorflow")) return findings;
  for (const Call& call : code.calls()) {
    if (!is_raw(call) || is_part_of_raw(call)) continue;
    Finding finding =
        call.finding("`" + std::string(call.callee().text()) +
                     "` is applied to a symbolic tensor of Keras: Keras 3 refuses it, and older "
                     "versions keep its "
                     "constants in a layer that nobody sees. Use a layer, or `keras.ops`.");
    add_fix(code, call, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL518", "raw_op_in_keras_model", Severity::note, nullptr, in_source};

}  // namespace xleak::monitor::smells::raw_op_in_keras_model
