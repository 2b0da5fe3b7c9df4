// A stored function, partial or generator keeps what it captured, and nobody sees it.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::closure_or_partial_keeps_tensor {
namespace {

std::string message(const Holder& holder) {
  const std::string who = holder.count == 1
                              ? "The function (or generator) at " + holder.label
                              : std::to_string(holder.count) + " functions in " + holder.label;
  return who + (holder.count == 1 ? " keeps " : " keep ") + human(holder.held_bytes) +
         " alive that nothing else does: it captured a value of type " + holder.largest +
         ". Free it with `" + holder.release +
         "`, or capture the small result in place of the large value.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule one{"captures", "Delete what captured it", message};
  const HolderRule unused{"unused captures", "Delete what captured it", message};
  return holder_findings(session, {one, unused.as(Severity::warning)});
}

using source::Bound;
using source::Kind;

bool is_large(const Value& value) {
  return value.is_tensor() || value.type == ValueType::array || value.type == ValueType::tf_tensor;
}

// A name of the function around that the inner one goes on using.
Expr captured_in(const Expr& inner, const Function& outer) {
  for (const Expr& name : inner.child(source::Field::body).all(Kind::name)) {
    const Place place = name.place();
    if (!place || place.is_module_level() || place.is_attribute() || !place.outlives(name))
      continue;
    for (const PlaceBinding& binding : place.bindings()) {
      const bool is_local = binding.how == Bound::assign && binding.target.function() == outer;
      if (is_local && binding.position < 0 && is_large(binding.value.value())) return name;
    }
  }
  return {};
}

// The lambda or the function of this function that it returns.
Expr inner_function(const Expr& returned, const Function& outer) {
  if (returned.is(Kind::lambda)) return returned;
  if (!returned.is(Kind::name)) return {};
  for (const PlaceBinding& binding : returned.place().bindings()) {
    if (binding.how == Bound::function && binding.target.function() == outer) return binding.target;
  }
  return {};
}

void add_closures(const SourceView& code, std::vector<Finding>& findings) {
  for (const Function& outer : code.functions()) {
    for (const Expr& returned : outer.returned()) {
      const Expr inner = inner_function(returned, outer);
      const Expr captured = captured_in(inner, outer);
      if (!captured) continue;
      findings.push_back(inner.finding(
          "The function that is returned keeps the whole of `" + std::string(captured.text()) +
          "` for as long as it lives, and no name shows it. Let it capture the small result that "
          "it needs."));
    }
  }
}

void add_partials(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    const Call partial = store.value.as_call();
    if (!partial || !partial.callee().is_dotted({"functools.partial"})) continue;
    const Place container = store.container.place();
    const bool lasts = container.is_module_level() || container.outlives(store.site);
    if (!lasts || !store.site.in_loop() || code.is_bounded(store)) continue;
    const auto arguments = partial.arguments();
    const auto large = std::find_if(arguments.begin(), arguments.end(), [](const Expr& argument) {
      return is_large(argument.value());
    });
    if (large == arguments.end()) continue;
    findings.push_back(partial.finding(
        "Each of these keeps the whole of `" + std::string(large->text()) + "` in `" +
        std::string(store.container.text()) + "`. Hand over the small part that the call needs."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy") && !code.uses("tensorflow")) return findings;
  add_closures(code, findings);
  if (code.uses("functools")) add_partials(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL407", "closure_or_partial_keeps_tensor", Severity::note, at_run_time,
                  in_source};

}  // namespace xleak::monitor::smells::closure_or_partial_keeps_tensor
