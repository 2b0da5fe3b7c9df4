// A container that code behind the scenes fills and that nobody empties.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::growing_object_references {
namespace {

std::string message(const Holder& holder) {
  return holder.label + " has grown to " + std::to_string(holder.count) + " elements and " +
         human(holder.held_bytes) +
         " over several executions; nothing takes any out or reads them. Free them with `" +
         holder.release + "`, and keep what you need in local variables.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"growing container", "Empty the container", message});
}

using source::Field;
using source::Kind;

bool is_autograd_function(const SourceView& code, const Expr& class_definition) {
  return code.is_derived(class_definition, {"torch.autograd.Function"});
}

bool is_pass(std::string_view name) {
  return name == "forward" || name == "backward" || name == "setup_context";
}

bool is_parameter(const Expr& value, const Function& function) {
  for (const Expr& parameter : function.parameters()) {
    if (parameter.place() && parameter.place() == value.root().place()) return true;
  }
  return false;
}

// `taps.append((ctx, z))` in a function of autograd.
bool keeps_pass(const SourceView& code, const Store& store) {
  const Function function = store.site.function();
  return is_pass(function.name()) && is_autograd_function(code, function.class_definition()) &&
         store.container.root().place().outlives(store.site) &&
         is_parameter(store.value, function) && store.value.value().type != ValueType::number;
}

bool is_emptied(const SourceView& code, const Store& store) {
  const Place place = store.container.root().place();
  if (code.is_bounded(store)) return true;
  if (!place.calls_of({"clear", "pop", "popleft", "popitem", "remove", "discard"}).empty()) {
    return true;
  }
  return place.bindings().size() > 1 ||
         place.bindings().front().value.made_by().callee().dotted().substr(0, 8) == "weakref.";
}

// A module-level container that a function fills.
bool fills_global(const SourceView& code, const Store& store) {
  const Place place = store.container.root().place();
  if (!store.site.function() || !place.is_module_level() || store.index) return false;
  const Value value = store.value.value();
  const bool is_data = value.is_tensor() || value.type == ValueType::array;
  return is_data && !value.is_gradful() && !place.bindings().empty() && !is_emptied(code, store) &&
         !code.is_replay_memory(store);
}

void find_stores(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    const std::string into = "`" + std::string(store.container.text()) + "`";
    if (keeps_pass(code, store) && !is_emptied(code, store)) {
      Finding finding =
          store.value.finding(into + " keeps `" + std::string(store.value.text()) +
                              "` of every pass of this autograd function: nothing empties it. Use "
                              "`ctx.save_for_backward`, which lets go after the backward pass.");
      finding.severity = Severity::error;
      findings.push_back(std::move(finding));
    } else if (fills_global(code, store)) {
      Finding finding =
          store.value.finding(into + " gets one more `" + std::string(store.value.text()) +
                              "` with each call, and nothing takes any out again.");
      finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
}

bool is_static(const Function& function) {
  for (const Expr& decorator : function.decorators()) {
    if (decorator.name() == "staticmethod" || decorator.name() == "classmethod") return true;
  }
  return false;
}

// The old style: the object of the function keeps what `self` gets for as long as it is referred
// to.
void find_attributes(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    const Function function = statement.function();
    if (!left.is(Kind::attribute) || !is_pass(function.name()) || is_static(function)) continue;
    if (!is_autograd_function(code, function.class_definition())) continue;
    if (!left.place().outlives(statement)) continue;
    Finding finding = statement.finding(
        "`" + std::string(left.text()) +
        "` stays with the object of this autograd function after its pass. Make `" +
        std::string(function.name()) + "` static, and use `ctx.save_for_backward`.");
    finding.severity = Severity::warning;
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy")) return findings;
  find_stores(code, findings);
  if (code.uses("torch.autograd")) find_attributes(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL105", "growing_object_references", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::growing_object_references
