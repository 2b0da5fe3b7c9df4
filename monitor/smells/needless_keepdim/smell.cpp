// An axis of one element that nothing needs: `(N, 1)` and `(N,)` make `(N, N)`.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::needless_keepdim {
namespace {

using source::Field;
using source::Kind;

Expr kept_axis(const Call& call) {
  const Expr keepdim = call.keyword("keepdim");
  return keepdim ? keepdim : call.keyword("keepdims");
}

// `x.mean(1, keepdim=True)` and `torch.mean(x, 1, keepdim=True)` are made of `x`.
Expr reduced(const Call& call) {
  if (call.callee().dotted().empty()) return call.receiver();
  const auto arguments = call.arguments();
  return arguments.empty() ? Expr() : arguments.front();
}

// `.squeeze(-1)`, `.flatten()` and `[..., 0]` right after it take the axis away again.
Expr taken_away_by(const Expr& value) {
  const Expr above = value.parent();
  if (above.is(Kind::attribute) && is_one_of(above.name(), {"squeeze", "flatten", "ravel"})) {
    return above.parent();
  }
  if (!above.is(Kind::subscript) || above.child(Field::object) != value) return {};
  List<Expr> indices = above.children();
  indices.erase(indices.begin());
  if (indices.size() == 1 && indices[0].is(Kind::tuple)) indices = indices[0].children();
  // `[0]` alone takes the values of a pair of values and indices.
  return indices.size() > 1 && indices.back().integer() == 0 ? above : Expr();
}

bool is_label(const Expr& name) {
  return is_one_of(name.name(), {"target", "targets", "label", "labels", "y", "y_true", "gt"});
}

// It is used in arithmetic with labels alone, never with what it was made of.
bool meets_labels_only(const Place& result, const Expr& source) {
  bool meets = false;
  for (const Expr& use : result.uses()) {
    const Expr above = use.parent();
    if (!above.is(Kind::binary) || above.mentions(source.root().place())) return false;
    for (const Expr& operand : above.children()) meets |= operand != use && is_label(operand);
  }
  return meets;
}

bool is_needless(const Call& call) {
  if (taken_away_by(call)) return true;
  const Expr target = call.target();
  return target.is(Kind::name) && target.place().bindings().size() == 1 &&
         meets_labels_only(target.place(), reduced(call));
}

List<Call> reductions(const SourceView& code) {
  List<Call> calls = code.calls_of({"mean", "sum", "max", "min", "amax", "amin", "norm", "std",
                                    "var", "prod", "any", "all", "argmax", "argmin", "logsumexp"});
  for (const Call& call : code.calls_to({"torch.mean", "torch.sum", "torch.amax", "torch.amin",
                                         "torch.norm", "torch.std", "torch.var", "torch.prod",
                                         "torch.argmax", "torch.argmin", "torch.logsumexp"})) {
    if (call.callee().is(Kind::name)) calls.push_back(call);
  }
  return calls;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy")) return findings;
  for (const Call& call : reductions(code)) {
    const Expr keepdim = kept_axis(call);
    if (!keepdim.is(Kind::true_literal) || !is_needless(call)) continue;
    findings.push_back(call.finding(
        "`" + std::string(keepdim.parent().text()) +
        "` keeps an axis of one element that nothing uses: next to a vector it makes a square. "
        "Leave it out."));
  }
  return findings;
}

std::string measured(const Holder& holder) {
  return holder.label +
         " met the column that `keepdim=True` left with a vector: the result is a "
         "square of " +
         holder.largest +
         ", reduced over all pairs. Leave `keepdim=True` out, or take the axis away with "
         "`.squeeze()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"kept axis", "", measured});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL111", "needless_keepdim", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::needless_keepdim
