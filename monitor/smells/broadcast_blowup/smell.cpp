// Two operands that broadcast to a square of either.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::broadcast_blowup {
namespace {

using source::Field;
using source::Kind;

// What is compared row by row goes by such names.
constexpr std::string_view kCompared[] = {"pred", "output", "target", "label", "true", "y_",
                                          "_y",   "logit",  "guess",  "score", "truth"};

enum class Axis { none, row, column };

bool is_whole(const Expr& index) { return index.is(Kind::slice) && index.text() == ":"; }
bool is_new(const Expr& index) {
  return index.is(Kind::none) || index.is_dotted({"numpy.newaxis"});
}

// `a[:, None]` and `a.unsqueeze(1)` are columns, `a[None, :]` and `a.unsqueeze(0)` rows.
Axis added_axis(const Expr& operand) {
  if (operand.is(Kind::subscript)) {
    List<Expr> parts = operand.children();
    parts.erase(parts.begin());
    if (parts.size() == 1 && parts.front().is(Kind::tuple)) parts = parts.front().children();
    if (parts.size() == 2 && is_whole(parts[0]) && is_new(parts[1])) return Axis::column;
    const bool starts_new = !parts.empty() && is_new(parts[0]);
    if (starts_new && (parts.size() == 1 || (parts.size() == 2 && is_whole(parts[1])))) {
      return Axis::row;
    }
    return Axis::none;
  }
  const Call call = operand.as_call();
  if (call.method() != "unsqueeze" || call.arguments().size() != 1) return Axis::none;
  const auto at = call.arguments().front().integer();
  if (!at) return Axis::none;
  return *at == 0 ? Axis::row : *at == 1 ? Axis::column : Axis::none;
}

// `x[:, None]` is made of `x`, and so is `x.unsqueeze(1)`.
Expr base_of(const Expr& operand) {
  return operand.is(Kind::subscript) ? operand.child(Field::object) : operand.as_call().receiver();
}

// Of a prediction and its label, rows belong together; of other vectors all pairs may be meant.
bool is_prediction_or_label(const Expr& operand) {
  const std::string_view name = base_of(operand).name();
  return is_one_of(name, {"y", "t"}) ||
         std::any_of(std::begin(kCompared), std::end(kCompared), [&](std::string_view word) {
           return name.find(word) != std::string_view::npos;
         });
}

bool makes_square(const Expr& operation) {
  const auto operands = operation.children();
  if (operands.size() != 2 || operation.op() == source::Operator::matmul) return false;
  const Axis a = added_axis(operands[0]);
  const Axis b = added_axis(operands[1]);
  const bool is_of_one = base_of(operands[0]).text() == base_of(operands[1]).text();
  return a != Axis::none && b != Axis::none && a != b && !is_of_one;
}

// A mean or sum over everything is all that becomes of it: `.pow(2).mean()`.
bool is_reduced_whole(Expr value) {
  for (Expr at = value; at; at = at.parent()) {
    const Call call = at.as_call();
    if (call && is_one_of(call.callee().name(), {"mean", "sum"})) {
      return call.keyword("dim").id() == source::kNone &&
             call.keyword("axis").id() == source::kNone &&
             call.arguments().size() == (call.callee().dotted().empty() ? 0u : 1u);
    }
    if (at.is(Kind::assign) || at.parent().is(Kind::block) || at.parent().is(Kind::cell)) break;
  }
  return false;
}

bool comes_to_one_number(const Expr& operation) {
  if (is_reduced_whole(operation)) return true;
  const Expr assignment = operation.assignment();
  const Expr target = assignment.child(Field::left);
  if (!target.is(Kind::name) || assignment.child(Field::right) != operation) return false;
  const auto uses = target.place().uses();
  return target.place().bindings().size() == 1 && !uses.empty() &&
         std::all_of(uses.begin(), uses.end(), is_reduced_whole);
}

void find_squares(const SourceView& code, std::vector<Finding>& findings) {
  List<Expr> operations;
  for (const Call& call : code.calls_of({"mean", "sum"})) {
    for (const Expr& operation : call.statement().all(Kind::binary))
      operations.push_back(operation);
  }
  for (const Expr& statement : code.assignments()) {
    const Expr right = statement.child(Field::right);
    if (right.is(Kind::binary)) operations.push_back(right);
  }
  std::sort(operations.begin(), operations.end());
  operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
  for (const Expr& operation : operations) {
    if (!makes_square(operation) || !comes_to_one_number(operation)) continue;
    const auto operands = operation.children();
    Finding finding = operation.finding(
        "`" + std::string(operation.text().substr(0, 60)) +
        "` makes a square of two vectors, only to reduce it to one number: memory grows with the "
        "square of their length. Where elements belong together, give both the same shape; for "
        "all pairs, work in chunks.");
    const bool belong_together =
        std::any_of(operands.begin(), operands.end(), is_prediction_or_label);
    if (!belong_together) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

// The last layer of a model has one unit, so that its output is a column.
bool ends_in_one_unit(const Expr& output) {
  const Call built = output.as_call() ? output.as_call().callee().made_by() : Call();
  if (!built.callee().is_dotted({"torch.nn.Sequential"}) || built.arguments().empty()) {
    return built.callee().is_dotted({"torch.nn.Linear"}) &&
           built.argument("out_features", 1).integer() == 1;
  }
  const Call last = built.arguments().back().as_call();
  return last.callee().is_dotted({"torch.nn.Linear"}) &&
         last.argument("out_features", 1).integer() == 1;
}

Expr made_of(const Expr& value) {
  if (!value.is(Kind::name)) return value;
  const auto bindings = value.place().bindings();
  return bindings.size() == 1 && bindings.front().position < 0 ? bindings.front().value : Expr();
}

bool is_reshaped(const Expr& value) {
  for (const Expr& expression : value.all(Kind::call)) {
    if (is_one_of(expression.as_call().method(),
                  {"squeeze", "view", "reshape", "unsqueeze", "flatten", "view_as", "ravel"})) {
      return true;
    }
  }
  return !value.all(Kind::subscript).empty();
}

void find_losses(const SourceView& code, std::vector<Finding>& findings) {
  List<Call> losses =
      code.calls_to({"torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss",
                     "torch.nn.functional.smooth_l1_loss", "torch.nn.functional.huber_loss"});
  for (const Call& made : code.calls_to({"torch.nn.MSELoss", "torch.nn.L1Loss",
                                         "torch.nn.SmoothL1Loss", "torch.nn.HuberLoss"})) {
    for (const Expr& use : made.target().place().uses()) {
      if (use.parent().as_call().callee() == use) losses.push_back(use.parent().as_call());
    }
  }
  for (const Call& loss : losses) {
    const auto arguments = loss.arguments();
    if (arguments.size() != 2 || !ends_in_one_unit(made_of(arguments[0]))) continue;
    const Expr target = made_of(arguments[1]);
    if (is_reshaped(arguments[1]) || is_reshaped(target)) continue;
    Finding finding = loss.finding(
        "The model returns a column, `(N, 1)`: with targets of shape `(N,)` this loss compares "
        "all pairs, `(N, N)`. Take `.squeeze(1)` of the output where the targets are a vector.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (code.uses("torch")) find_losses(code, findings);
  if (code.uses("torch") || code.uses("numpy")) find_squares(code, findings);
  return findings;
}

std::string measured(const Holder& holder) {
  return holder.label + " met a column, (N, 1), with a vector, (N,): the result is a square of " +
         holder.largest +
         ", and it is only reduced to one number, over all pairs. Where rows belong together, give "
         "both the same shape: `.squeeze(1)`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"square", "", measured});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL115", "broadcast_blowup", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::broadcast_blowup
