// fit(epochs=1) stands in a loop over epochs.
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::fit_called_per_epoch {
namespace {

using source::Field;
using source::Kind;

bool is_over_range(const Loop& loop) {
  return loop.is(Kind::for_loop) &&
         loop.iterable().as_call().callee().is_dotted({"builtins.range"});
}

bool trains_one_epoch(const Call& call) {
  const Expr epochs = call.keyword("epochs");
  return !epochs || epochs.integer() == 1;
}

bool depends_on_iteration(const Call& call, const Loop& loop) {
  for (const Expr& part : call.children()) {
    if (tensorflow::depends_on(part, loop)) return true;
  }
  return false;
}

bool prints(const Expr& statement) {
  const auto parts = statement.children();
  return statement.is(Kind::expression_statement) && parts.size() == 1 &&
         parts.front().as_call().callee().is_dotted({"builtins.print"});
}

// Nothing but the training, and perhaps a line that says so.
bool does_only(const Loop& loop, const Call& call) {
  for (const Expr& statement : loop.body().children()) {
    if (!call.is_inside(statement) && !prints(statement)) return false;
  }
  return call.statement().parent() == loop.body();
}

bool is_alone(const Loop& loop, const Call& call) {
  return call.is_discarded() && loop.body().children().size() == 1 &&
         !loop.child(Field::alternative);
}

// A comment inside the call would swallow what is put behind it.
bool can_be_extended(const Call& call) {
  return !call.arguments().empty() && call.text().find('#') == std::string_view::npos;
}

// `for e in range(n): net.fit(x)` becomes `net.fit(x, epochs=n)`.
void add_fix(const Loop& loop, const Call& call, Finding& finding) {
  const auto bounds = loop.iterable().as_call().arguments();
  if (bounds.size() != 1 || !is_alone(loop, call) || call.keyword("callbacks")) return;
  if (!can_be_extended(call)) return;
  std::string text(call.text());
  const std::string epochs = "epochs=" + std::string(bounds.front().text());
  if (const Expr given = call.keyword("epochs")) {
    const Expr keyword = given.parent();
    const std::size_t at = text.rfind(keyword.text());
    text.replace(at, keyword.text().size(), epochs);
  } else {
    const std::size_t end = text.find_last_not_of(", \n\t", text.size() - 2);
    text = text.substr(0, end + 1) + ", " + epochs + ")";
  }
  finding.fixes.push_back(
      {"Train all epochs in one call", "", {loop.replaced_by(text)}, /*safe=*/false});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("keras")) return findings;
  for (const Call& call : code.calls_of({"fit"})) {
    const auto loops = call.loops();
    if (loops.empty() || !is_over_range(loops.front()) || !trains_one_epoch(call)) continue;
    if (call.receiver().value().type != ValueType::keras_model) continue;
    const Loop& loop = loops.front();
    if (depends_on_iteration(call, loop) || !does_only(loop, call)) continue;
    Finding finding = call.finding(
        "`" + std::string(call.callee().text()) +
        "` sets up its data, callbacks and history again for every epoch: time. Train with "
        "`epochs=` in one call, and do what an epoch needs in a callback.");
    add_fix(loop, call, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL502", "fit_called_per_epoch", Severity::note, nullptr, in_source};

}  // namespace xleak::monitor::smells::fit_called_per_epoch
