// While the error is handled, its traceback keeps what the failed attempt had on the device.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::oom_retry_inside_except {
namespace {

using source::Field;
using source::Kind;

List<Expr> caught_by(const Expr& handler) {
  Expr what = handler.child(Field::item);
  if (what.is(Kind::as_pattern)) what = what.first_child();
  return what.is(Kind::tuple) ? what.children() : List<Expr>{what};
}

bool mentions_memory(const Expr& body) {
  for (const Expr& text : body.all(Kind::string)) {
    if (text.text().find("out of memory") != std::string_view::npos) return true;
  }
  return false;
}

bool is_out_of_memory(const Expr& handler) {
  for (const Expr& error : caught_by(handler)) {
    if (error.is_dotted({"torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"})) return true;
    if (error.text() == "RuntimeError" && mentions_memory(handler.child(Field::body))) return true;
  }
  return false;
}

bool raises_in_the_end(const Expr& handler) {
  const auto statements = handler.child(Field::body).children();
  return std::any_of(statements.begin(), statements.end(),
                     [](const Expr& statement) { return statement.is(Kind::raise_statement); });
}

// A model, or a function of the program that is given something to compute with.
bool computes(const Call& call) {
  if (call.arguments().empty()) return false;
  const ValueType type = call.callee().value().type;
  return type == ValueType::module || type == ValueType::loss_function || !call.callees().empty();
}

bool is_tried(const Call& call, const Expr& attempt) {
  for (const Expr& other : attempt.all(Kind::call)) {
    if (other.as_call().callee().text() == call.callee().text()) return true;
  }
  return false;
}

bool calls_its_own_function(const Call& call) {
  const auto callees = call.callees();
  return std::find(callees.begin(), callees.end(), call.function()) != callees.end();
}

// The second attempt runs where there is memory.
bool goes_to_host(const Expr& body) {
  for (const Expr& spot : body.all(Kind::call)) {
    const Call call = spot.as_call();
    const std::string_view device = call.argument("device", 0).string();
    if (call.method() == "cpu" || (call.method() == "to" && device == "cpu")) return true;
  }
  return false;
}

Call retry_in(const Expr& handler) {
  const Expr attempt = handler.parent().child(Field::body);
  if (goes_to_host(handler.child(Field::body))) return {};
  for (const Expr& spot : handler.child(Field::body).all(Kind::call)) {
    const Call call = spot.as_call();
    if (call.function() != handler.function() || !computes(call)) continue;
    if (is_tried(call, attempt) || calls_its_own_function(call)) return call;
  }
  return {};
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Expr& handler : code.handlers()) {
    if (!is_out_of_memory(handler) || raises_in_the_end(handler)) continue;
    const Call retry = retry_in(handler);
    if (!retry) continue;
    findings.push_back(retry.finding(
        "`" + std::string(retry.callee().text()) +
        "` is tried again inside `except`: until the block ends, the error's traceback keeps the "
        "tensors of the failed attempt, and the second one has less memory. Set a flag here, and "
        "try again behind the block."));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return "The second attempt failed inside `except`, where the first one's " + holder.largest +
         " still kept " + human(holder.held_bytes) + ". Free them with `" + holder.release +
         "`; set a flag in the block, and try again behind it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"failed attempt", "Let the frames go", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL620", "oom_retry_inside_except", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::oom_retry_inside_except
