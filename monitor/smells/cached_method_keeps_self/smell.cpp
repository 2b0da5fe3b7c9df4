// A cached method keeps every object that it was called on.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::cached_method_keeps_self {
namespace {

std::string message(const Holder& holder) {
  return "The cache of " + holder.label + " keeps " + std::to_string(holder.count) + " " +
         holder.largest + (holder.count == 1 ? " object" : " objects") + " and " +
         human(holder.held_bytes) + " alive; nothing else does. Free them with `" + holder.release +
         "`, or give each object a cache of its own.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"method cache", "Empty the cache", message});
}

using source::Kind;

bool makes_cache(const Expr& decorator) {
  const Call call = decorator.as_call();
  const Expr what = call ? call.callee() : decorator;
  return what.is_dotted({"functools.lru_cache", "functools.cache"});
}

// `lru_cache` without an argument keeps the last 128.
bool is_unlimited(const Expr& decorator) {
  const Call call = decorator.as_call();
  const Expr what = call ? call.callee() : decorator;
  if (what.is_dotted({"functools.cache"})) return true;
  return call.argument("maxsize", 0).is(Kind::none);
}

// The first parameter is no instance, or there are only as many instances as names.
bool keeps_no_instance(const SourceView& code, const Function& method) {
  for (const Expr& decorator : method.decorators()) {
    const std::string_view name = decorator.name();
    if (name == "staticmethod" || name == "classmethod") return true;
  }
  if (method.parameters().empty() || method.name() == "__new__") return true;
  return code.is_derived(method.parent().parent(),
                         {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag",
                          "builtins.type", "abc.ABCMeta"});
}

// Without attributes of its own an object keeps next to nothing.
bool has_state(const Expr& class_definition) {
  for (const Expr& statement : class_definition.all(Kind::assign)) {
    const Expr left = statement.child(source::Field::left);
    if (left.is(Kind::attribute) && left.child(source::Field::object).name() == "self") return true;
  }
  return false;
}

// All of its objects are made once, at the top of a module.
bool is_made_once(const SourceView& code, const Expr& class_definition) {
  const auto made = class_definition.place().uses();
  return !code.is_notebook() && !made.empty() &&
         std::all_of(made.begin(), made.end(), [](const Expr& use) {
           return use.parent().is(Kind::call) && use.at_top_level() && !use.in_loop();
         });
}

Finding finding_of(const SourceView& code, const Function& method, const Expr& decorator) {
  const std::string owner(method.parent().parent().name());
  const std::string name(method.name());
  Finding finding = decorator.finding(
      "The cache of `" + name + "` belongs to the class and has each `" + owner +
      "` that it was called on as a key: " +
      (is_unlimited(decorator) ? "none of them ever goes. " : "the last ones do not go. ") +
      (method.parameters().size() == 1 ? "Use `functools.cached_property`."
                                       : "Cache a function of the values that it needs, or give "
                                         "each object a cache of its own in `__init__`."));
  const Expr made_of = method.parent().parent();
  if (!is_unlimited(decorator) || !has_state(made_of) || is_made_once(code, made_of))
    finding.severity = Severity::note;
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("functools")) return findings;
  for (const Function& function : code.functions()) {
    if (!function.is_method()) continue;
    for (const Expr& decorator : function.decorators()) {
      if (!makes_cache(decorator) || keeps_no_instance(code, function)) continue;
      findings.push_back(finding_of(code, function, decorator));
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL404", "cached_method_keeps_self", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::cached_method_keeps_self
