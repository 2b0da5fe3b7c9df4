// A registry that objects enter when they are made and never leave.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::growing_global_registry {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) + " entries, of type " +
         holder.largest + ", and alone keeps " + human(holder.held_bytes) +
         " of what earlier runs made. Free it with `" + holder.release +
         "`, and register in a weakref.WeakSet.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"growing registry", "Empty the registry", message});
}

using source::Bound;
using source::Field;
using source::Kind;

bool makes_instances(const SourceView& code, const Function& function) {
  const std::string_view name = function.name();
  if (!function.is_method() || (name != "__init__" && name != "__post_init__")) return false;
  // Instances of these are classes, or as many as names.
  return !code.is_derived(function.parent().parent(), {"builtins.type", "abc.ABCMeta", "enum.Enum",
                                                       "enum.IntEnum", "enum.Flag"});
}

bool is_self(const Expr& value, const Function& constructor) {
  const auto parameters = constructor.parameters();
  return !parameters.empty() && value.is(Kind::name) && value.name() == parameters.front().name();
}

// The object, or a method that is bound to it.
bool has_object(const Expr& value, const Function& constructor) {
  if (is_self(value, constructor)) return true;
  if (!value.is(Kind::attribute) || !is_self(value.child(Field::object), constructor)) return false;
  const auto bindings = value.place().bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [](const PlaceBinding& binding) { return binding.how == Bound::function; });
}

// Another object is another key: `registry[id(self)]`, `registry[len(registry)]`.
bool is_new_key(const Expr& key, const Function& constructor) {
  if (!key || is_self(key, constructor)) return true;
  const Call call = key.as_call();
  return call && call.callee().is_dotted({"builtins.id", "builtins.len"});
}

bool is_made_in_class(const Place& place) {
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.target.class_definition() && !binding.target.function()) return true;
  }
  return false;
}

bool is_registry(const Place& place) {
  if (place.is_attribute() && !is_made_in_class(place)) return false;
  if (!place.is_attribute() && !place.is_module_level()) return false;
  for (const PlaceBinding& binding : place.bindings()) {
    const std::string_view dotted = binding.value.as_call().callee().dotted();
    if (dotted.substr(0, 8) == "weakref.") return false;
    if (binding.how == Bound::import) return false;
  }
  return !place.bindings().empty();
}

bool is_emptied(const Place& registry) {
  if (!registry.calls_of({"remove", "discard", "pop", "popitem", "clear", "popleft"}).empty())
    return true;
  for (const Expr& use : registry.uses()) {
    const Expr element = use.parent();
    if (element.is(Kind::subscript) && element.parent().is(Kind::delete_statement)) return true;
    if (element.is(Kind::subscript) && element.child(Field::object) == use &&
        element.last_child().is(Kind::slice) && element.parent().is(Kind::assign)) {
      return true;
    }
  }
  return false;
}

// `alive = []` again, somewhere below the first.
bool is_made_anew(const Place& registry) {
  int made = 0;
  for (const PlaceBinding& binding : registry.bindings()) {
    if (binding.how == Bound::assign || binding.how == Bound::deleted) ++made;
  }
  return made > 1;
}

bool owns_data(const Expr& class_definition) {
  for (const Expr& statement : class_definition.all(Kind::assign)) {
    if (!statement.child(Field::left).is(Kind::attribute)) continue;
    const Value value = statement.child(Field::right).value();
    if (value.is_tensor() || value.type == ValueType::array || value.type == ValueType::module)
      return true;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Store& store : code.stores()) {
    if (!store.value.is(Kind::name) && !store.value.is(Kind::attribute)) continue;
    const Function constructor = store.site.function();
    if (!makes_instances(code, constructor)) continue;
    if (!has_object(store.value, constructor) || !is_new_key(store.index, constructor)) continue;
    const Place registry = store.container.place();
    if (!is_registry(registry) || is_emptied(registry) || is_made_anew(registry)) continue;
    const std::string owner(constructor.parent().parent().name());
    Finding finding = store.site.finding(
        "Each `" + owner + "` enters `" + std::string(store.container.text()) +
        "` when it is made, and nothing takes it out again: those of earlier runs stay with all "
        "they have. Register in a `weakref.WeakSet`.");
    if (!owns_data(constructor.parent().parent())) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL409", "growing_global_registry", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::growing_global_registry
