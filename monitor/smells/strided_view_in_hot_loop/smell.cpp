// A transposed view that is read again and again: strided reads, or a copy at each of them.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::strided_view_in_hot_loop {
namespace {

using source::Field;
using source::Kind;

// Fewer iterations cost less than the copy.
constexpr long long kManyTurns = 50;

// `cube.permute(2, 0, 1)`, `x.mT`: reads in another order than memory has.
bool is_strided(const Expr& value) {
  const Call call = value.as_call();
  if (call) {
    return is_one_of(call.method(), {"permute", "transpose", "movedim", "swapaxes", "t"}) &&
           !call.receiver().dotted().size();
  }
  return value.is(Kind::attribute) && is_one_of(value.name(), {"T", "mT"});
}

bool is_of_tensor(const Expr& value) {
  const Call call = value.as_call();
  const Expr whole = call ? call.receiver() : value.child(Field::object);
  return whole.value().is_tensor() || (call && is_one_of(call.method(), {"permute", "movedim"}));
}

// A reduction or an elementwise operation reads all of it; a product of matrices takes it as it is.
bool is_read_whole(const Expr& use) {
  const Expr above = use.parent();
  if (above.is(Kind::binary)) return above.op() != source::Operator::matmul;
  return above.is(Kind::attribute) &&
         is_one_of(above.name(), {"sum", "mean", "amax", "amin", "max", "min", "std", "var", "mul",
                                  "add", "exp", "square", "softmax", "cumsum", "norm"});
}

bool iterations_often(const Expr& use, const Expr& binding) {
  for (const Loop& loop : use.loops()) {
    if (binding.is_inside(loop)) return false;
    const auto iterations = loop.iterations();
    if (!loop.is_over_parts() && (!iterations || *iterations >= kManyTurns)) return true;
  }
  return false;
}

// `x.sum(-1).mul_(2)` of its `x`.
Expr whole_chain(Expr part) {
  while (part.parent().is(Kind::attribute) || part.parent().is(Kind::call)) part = part.parent();
  return part;
}

std::vector<Lines> hot_lines(const Expr& name, const Expr& binding) {
  std::vector<Lines> lines;
  for (const Expr& use : name.place().uses()) {
    if (is_read_whole(use) && iterations_often(use, binding))
      lines.push_back(whole_chain(use).lines());
  }
  return lines;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Expr& statement : code.assignments()) {
    const Expr name = statement.child(Field::left);
    const Expr value = statement.child(Field::right);
    if (!name.is(Kind::name) || !is_strided(value) || !is_of_tensor(value)) continue;
    if (name.place().bindings().size() != 1) continue;
    auto hot = hot_lines(name, statement);
    if (hot.empty()) continue;
    Finding finding = statement.finding("`" + std::string(name.text()) +
                                        "` is a view in another order than memory has, and a loop "
                                        "reads it whole in each iteration. "
                                        "Copy it once: `.contiguous()`.");
    finding.name = std::string(name.text());
    finding.timed_lines = std::move(hot);
    finding.fixes.push_back(
        {"Copy it once", "", {value.followed_by(".contiguous()")}, /*safe=*/false});
    findings.push_back(std::move(finding));
  }
  return findings;
}

// The copy pays where the reads are this much of a cell's time.
constexpr int kLeastPercent = 10;

std::string measured(const Holder& holder) {
  return "A view in another order than memory has is read at " + holder.label +
         " in each iteration: " + holder.largest +
         ". Copy it once, before the loop: `.contiguous()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, timed_lines("strided view", measured, kLeastPercent));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL116", "strided_view_in_hot_loop", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::strided_view_in_hot_loop
