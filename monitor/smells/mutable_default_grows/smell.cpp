// A default that is a container keeps what every call puts into it.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::mutable_default_grows {
namespace {

std::string message(const Holder& holder) {
  return "The default of `" + holder.largest + "` has collected " + std::to_string(holder.count) +
         " elements, which keep " + human(holder.held_bytes) + " alive: " + holder.label +
         " is one object for all calls. Free them with `" + holder.release +
         "`, and make the default None.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"default that grows", "Empty the default", message});
  // By numbers and texts it may be a memo that somebody wanted.
  auto memos = holder_findings(session, {"default as a memo", "Empty the default", message});
  for (Finding& memo : memos) {
    memo.severity = Severity::note;
    findings.push_back(std::move(memo));
  }
  return findings;
}

using source::Bound;
using source::Field;
using source::Kind;

bool is_mutable(const Expr& value) {
  if (value.is(Kind::list) || value.is(Kind::dict) || value.is(Kind::set)) return true;
  const Call call = value.as_call();
  return call && call.callee().is_dotted({"builtins.list", "builtins.dict", "builtins.set",
                                          "collections.defaultdict", "collections.deque",
                                          "collections.OrderedDict", "collections.Counter"});
}

bool is_rebound(const Place& parameter) {
  const auto bindings = parameter.bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [](const PlaceBinding& binding) { return binding.how == Bound::assign; });
}

// The attributes that take the default over: `self.frames = frames`.
std::vector<Place> keepers_of(const Place& parameter) {
  std::vector<Place> keepers = {parameter};
  for (const Expr& use : parameter.uses()) {
    const Expr statement = use.parent();
    if (!statement.is(Kind::assign) || statement.child(Field::right) != use) continue;
    const Place taken = statement.child(Field::left).place();
    if (taken.is_attribute()) keepers.push_back(taken);
  }
  return keepers;
}

bool is_static(const Function& function) {
  const auto decorators = function.decorators();
  return std::any_of(decorators.begin(), decorators.end(),
                     [](const Expr& decorator) { return decorator.name() == "staticmethod"; });
}

// Everybody who calls it hands in a container of their own.
bool is_always_given(const Function& function, const Expr& parameter) {
  const auto parameters = function.parameters();
  int position = static_cast<int>(std::find(parameters.begin(), parameters.end(), parameter) -
                                  parameters.begin());
  if (function.is_method() && !is_static(function)) --position;
  bool is_called = false;
  for (const Call& site : function.call_sites()) {
    if (site.function() == function) continue;
    is_called = true;
    if (!site.argument(parameter.name(), position)) return false;
  }
  return is_called;
}

// `layers` and `-1 in layers`, not `-1 not in layers`.
bool needs_element(const Expr& condition, const std::vector<Place>& keepers) {
  const auto is_keeper = [&](const Expr& spot) {
    return spot.place() && std::find(keepers.begin(), keepers.end(), spot.place()) != keepers.end();
  };
  if (is_keeper(condition)) return true;
  if (!condition.is(Kind::comparison) || !is_keeper(condition.last_child())) return false;
  const std::string_view text = condition.text();
  const auto left = condition.first_child().text().size();
  const auto right = condition.last_child().text().size();
  if (left + right > text.size()) return false;
  const std::string_view between = text.substr(left, text.size() - left - right);
  return between.find("in") != std::string_view::npos &&
         between.find("not") == std::string_view::npos;
}

// The default is empty, and the branch asks for something that is in it.
bool cannot_begin(const Store& store, const Expr& container, const std::vector<Place>& keepers) {
  const Call made = container.as_call();
  if (!(made ? made.arguments().empty() : container.children().empty())) return false;
  for (Expr inner = store.site, at = inner.parent(); at && !at.is(Kind::function);
       inner = at, at = at.parent()) {
    if (at.is(Kind::if_branch) && inner == at.child(Field::body) &&
        needs_element(at.child(Field::condition), keepers)) {
      return true;
    }
  }
  return false;
}

Store store_into(const SourceView& code, const std::vector<Place>& keepers) {
  Store first;
  for (const Store& store : code.stores()) {
    const Place container = store.container.place();
    if (!container || std::find(keepers.begin(), keepers.end(), container) == keepers.end())
      continue;
    if (code.is_bounded(store)) return {};
    if (!first.site) first = store;
  }
  return first;
}

// By key it may be a memo that somebody wanted, as long as what it keeps is small.
bool is_memo(const Store& store, std::string_view parameter) {
  const Value value = store.value.value();
  const bool by_key = store.index || store.site.as_call().method() == "add";
  const bool on_purpose = by_key || parameter.substr(0, 1) == "_";
  return on_purpose && !value.is_tensor() && value.type != ValueType::array;
}

void add_fix(const Function& function, const Expr& parameter, Finding& finding) {
  const std::string name(parameter.name());
  const Expr container = parameter.child(Field::right);
  const auto statements = function.body().children();
  if (statements.empty() || function.is(Kind::lambda)) return;
  const Expr first = statements.front();
  const bool is_docstring = first.is(Kind::expression_statement) && !first.children().empty() &&
                            first.first_child().is(Kind::string);
  const std::string line =
      name + " = " + std::string(container.text()) + " if " + name + " is None else " + name;
  const auto edit = is_docstring ? first.line_after(line) : first.line_before(line);
  if (!edit) return;
  finding.fixes.push_back(
      {"Make a new one in each call", "", {container.replaced_by("None"), *edit}});
  finding.fixes.back().safe = false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Function& function : code.functions()) {
    if (!function.is(Kind::function)) continue;
    for (const Expr& parameter : function.parameters()) {
      if (!parameter.is(Kind::parameter) || !is_mutable(parameter.child(Field::right))) continue;
      const Place place = parameter.place();
      if (is_rebound(place) || is_always_given(function, parameter)) continue;
      const auto keepers = keepers_of(place);
      const Store store = store_into(code, keepers);
      if (!store.site || cannot_begin(store, parameter.child(Field::right), keepers)) continue;
      const std::string name(parameter.name());
      Finding finding =
          parameter.finding("The default of `" + name + "` is one object for all calls, and `" +
                            std::string(store.container.text()) +
                            "` adds to it: it grows with each call. Make the "
                            "default None, and a new one in the body.");
      if (is_memo(store, name)) {
        finding.severity = Severity::note;
      } else {
        add_fix(function, parameter, finding);
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL410", "mutable_default_grows", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::mutable_default_grows
