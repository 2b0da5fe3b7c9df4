// A persistent tape, or a list that lives long, keeps every step of a chain of tensors.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::tensor_chain_reassigned {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// A few steps are kept by every network.
constexpr long long kFewSteps = 8;

Expr block_of(const Call& tape) {
  for (Expr at = tape; at; at = at.parent()) {
    if (at.is(Kind::with_block)) return at;
    if (at.is(Kind::block) || at.is(Kind::cell)) break;
  }
  return {};
}

Place name_of(const Call& tape) {
  for (const Expr& target : tape.parent().children()) {
    if (!target.is(Kind::as_target)) continue;
    const auto names = target.children();
    return names.empty() ? target.place() : names.front().place();
  }
  return {};
}

bool is_let_go(const Place& tape) {
  if (!tape.calls_of({"reset", "stop_recording"}).empty()) return true;
  for (const PlaceBinding& binding : tape.bindings()) {
    if (binding.how == Bound::deleted) return true;
    if (binding.how == Bound::assign && binding.value.is(Kind::none)) return true;
  }
  return false;
}

bool is_chain(const Update& update) {
  const Expr right = update.site.child(Field::right);
  const bool is_counter = right.is_literal() || right.value().type == ValueType::number ||
                          right.value().type == ValueType::text;
  return update.target.place() && !is_counter && tensorflow::repeats(update.site, kFewSteps) &&
         !right.is(Kind::list) && !update.site.loops().empty();
}

// `x = f(x)` in a loop below the tape.
Expr chain_in(const SourceView& code, const Expr& block) {
  for (const Update& update : code.updates()) {
    if (!update.site.is_inside(block) || !is_chain(update)) continue;
    if (update.site.loops().front().is_inside(block)) return update.target;
  }
  return {};
}

// The gradients are computed and the tape is not needed further on.
std::optional<Edit> deletion(const Place& tape, const Expr& block) {
  Expr last = block;
  for (const Call& use : tape.calls_of({"gradient", "jacobian", "batch_jacobian"})) {
    Expr at = use.statement();
    while (at && at.parent() != block.parent()) at = at.parent().statement();
    if (!at) return std::nullopt;
    last = at;
  }
  for (const Expr& use : tape.uses()) {
    if (!use.is_inside(last) && last < use) return std::nullopt;
  }
  if (last == block || last.is(Kind::return_statement)) return std::nullopt;
  return last.line_after("del " + std::string(tape.name()));
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("tensorflow")) return findings;
  for (const Call& made : code.calls_to({"tensorflow.GradientTape"})) {
    if (!made.argument("persistent", 0).is_true()) continue;
    const Expr block = block_of(made);
    const Place tape = name_of(made);
    if (!block || !tape || is_let_go(tape)) continue;
    const Expr chain = chain_in(code, block);
    if (!chain) continue;
    Finding finding = made.finding(
        "The persistent tape keeps every step of `" + std::string(chain.text()) + "` until `" +
        std::string(tape.name()) +
        "` is gone. Delete it after the last gradient, or drop `persistent` where one is enough.");
    // The tape of the next iteration takes its name, and a local one goes with its function.
    const bool stays = tape.is_module_level() || tape.is_attribute();
    if (!stays || !made.loops().empty()) finding.severity = Severity::note;
    if (const auto edit = tape.is_attribute() ? std::nullopt : deletion(tape, block))
      finding.fixes.push_back({"Delete the tape after the last gradient", "", {*edit}});
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return "What persistent tapes recorded is still there with `" + holder.label +
         "`, which the last three cells did not mention: " + std::to_string(holder.count) +
         " tensors of " + human(holder.held_bytes) +
         " that nothing else has. Delete a tape after its last gradient, or drop `persistent` "
         "where one is enough.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"tapes", "Delete the tape", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL509", "tensor_chain_reassigned", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::tensor_chain_reassigned
