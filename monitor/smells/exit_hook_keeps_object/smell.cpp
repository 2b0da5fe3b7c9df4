// What a callback for the end is bound to lives until the end.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::exit_hook_keeps_object {
namespace {

std::string finalizers_message(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) + " " + holder.largest +
         (holder.count == 1 ? " object" : " objects") + " and " + human(holder.held_bytes) +
         " alive: the callback owns the object whose end it waits for. The fix frees them, and the "
         "callback is not run. Hand it what it needs, not the object.";
}

std::string hooks_message(const Holder& holder) {
  return std::to_string(holder.count) + (holder.count == 1 ? " callback" : " callbacks") +
         " at exit to " + holder.largest + (holder.count == 1 ? " keeps " : " keep ") +
         human(holder.held_bytes) + " alive until the process ends; nothing else does. " +
         (holder.release.empty()
              ? "Use `weakref.finalize` with a free function, or keep a name for the callback and "
                "type `atexit.unregister(callback)`."
              : "Take them back with `" + holder.release + "`.");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"finalizers", "Take the finalizers back", finalizers_message});
  const auto more =
      holder_findings(session, {"exit hooks", "Take the callbacks back", hooks_message});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

using source::Bound;
using source::Kind;

// The first parameter of the method that the spot is in.
std::string_view self_at(const Expr& spot) {
  for (Function function = spot.function(); function; function = function.function()) {
    if (function.is_method() && !function.parameters().empty())
      return function.parameters().front().name();
  }
  return {};
}

bool mentions(const Expr& value, std::string_view name) {
  if (name.empty()) return false;
  const auto names = value.all(Kind::name);
  return std::any_of(names.begin(), names.end(),
                     [&](const Expr& part) { return part.name() == name; });
}

bool is_static(const Expr& function) {
  for (const Expr& part : function.children()) {
    if (!part.is(Kind::decorator)) continue;
    const std::string_view name = part.first_child().name();
    if (name == "staticmethod" || name == "classmethod") return true;
  }
  return false;
}

// `self.path` is a value of its own; `self.flush` has the object.
bool is_bound_method(const Expr& value) {
  for (const PlaceBinding& binding : value.place().bindings()) {
    if (binding.how == Bound::function) return !is_static(binding.target);
  }
  return false;
}

bool keeps(const Expr& value, std::string_view object) {
  if (value.is(Kind::name)) return value.name() == object;
  if (value.is(Kind::attribute)) return mentions(value, object) && is_bound_method(value);
  if (value.is(Kind::lambda)) return mentions(value.child(source::Field::body), object);
  const Call call = value.as_call();
  if (!call || !call.callee().is_dotted({"functools.partial"})) return false;
  const auto arguments = call.arguments();
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const Expr& argument) { return keeps(argument, object); });
}

bool owns_data(const Expr& class_definition) {
  for (const Expr& statement : class_definition.all(Kind::assign)) {
    const Value value = statement.child(source::Field::right).value();
    if (value.is_tensor() || value.type == ValueType::array || value.type == ValueType::module)
      return true;
  }
  return false;
}

void add_hooks(const SourceView& code, std::vector<Finding>& findings) {
  if (!code.calls_to({"atexit.unregister"}).empty()) return;
  for (const Call& call : code.calls_to({"atexit.register"})) {
    const std::string_view self = self_at(call);
    const auto arguments = call.arguments();
    const bool has_object = std::any_of(arguments.begin(), arguments.end(),
                                        [&](const Expr& part) { return keeps(part, self); });
    if (self.empty() || !has_object) continue;
    const Expr owner = call.class_definition();
    Finding finding = call.finding(
        "The callback has `" + std::string(self) + "`: each `" + std::string(owner.name()) +
        "` lives until the process ends. Use `weakref.finalize` with a free function and what it "
        "needs.");
    if (!owns_data(owner)) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

void add_finalizers(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"weakref.finalize"})) {
    const auto arguments = call.arguments();
    if (arguments.size() < 2 || !arguments.front().is(Kind::name)) continue;
    const std::string_view object = arguments.front().name();
    const bool owns = std::any_of(arguments.begin() + 1, arguments.end(),
                                  [&](const Expr& part) { return keeps(part, object); });
    if (!owns) continue;
    findings.push_back(call.finding(
        "The finalizer of `" + std::string(object) + "` has `" + std::string(object) +
        "` itself: it waits for an end that cannot come. Hand it a free function and what that "
        "needs, not the object."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  add_hooks(code, findings);
  add_finalizers(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL408", "exit_hook_keeps_object", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::exit_hook_keeps_object
