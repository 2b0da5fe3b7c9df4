// A cache without a bound that grows with every execution.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::unbounded_tensor_cache {
namespace {

std::string grows(const Holder& holder) {
  return "The cache " + holder.label + " has no bound and has grown to " +
         std::to_string(holder.count) + " entries and " + human(holder.held_bytes) +
         " over several executions. Free them with `" + holder.release +
         "`, and give it a bound, such as functools.lru_cache(maxsize=128).";
}

std::string in_vain(const Holder& holder, const std::string& why, const char* repair) {
  return "The cache of " + holder.label + " hardly ever hits" + why + ". Its " +
         std::to_string(holder.count) + " entries keep " + human(holder.held_bytes) +
         " alive for nothing: free them with `" + holder.release + "`, and " + repair + ".";
}

// Several small differences may be the reason as well: then there is none to name.
std::string of_new_keys(const Holder& holder) {
  const std::string why =
      holder.largest.empty() ? "" : ": nearly every call had a new " + holder.largest;
  return in_vain(holder, why, "cache by what comes again, or give it a bound");
}

std::string of_identities(const Holder& holder) {
  const std::string why = ": a new " + holder.largest + " never equals another one";
  return in_vain(holder, why, "cache by a name or a number");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  constexpr const char* kTitle = "Empty the cache";
  return holder_findings(session, {{"growing cache", kTitle, grows},
                                   {"cache without hits", kTitle, of_new_keys},
                                   {"cache of identities", kTitle, of_identities}});
}

using source::Kind;

// The text of an expression in a message ends here.
constexpr std::size_t kShown = 60;

bool is_unbounded_cache(const Expr& decorator) {
  const Call call = decorator.as_call();
  if (!call) return decorator.is_dotted({"functools.cache"});
  return call.callee().is_dotted({"functools.lru_cache"}) &&
         call.argument("maxsize", 0).is(Kind::none);
}

bool is_any_cache(const Expr& decorator) {
  const Call call = decorator.as_call();
  const Expr what = call ? static_cast<const Expr&>(call.callee()) : decorator;
  return what.is_dotted({"functools.cache", "functools.lru_cache"});
}

// Sizes, devices and layers are few.
bool is_one_of_few(std::string_view name) {
  static constexpr std::string_view kFew[] = {
      "len",     "length", "size",   "shape", "dtype", "device", "layer",  "level",  "head",
      "block",   "mode",   "split",  "scale", "dim",   "rank",   "width",  "height", "grad",
      "require", "fmt",    "format", "kind",  "type",  "stream", "handle", "num",    "count"};
  return name == "n" || std::any_of(std::begin(kFew), std::end(kFew), [&](std::string_view few) {
           return name.find(few) != std::string_view::npos;
         });
}

std::string_view last_name(const Expr& key) {
  const Expr root = key.root();
  return root.name().empty() ? key.name() : root.name();
}

bool has_few_values(const Expr& key) {
  if (key.is(Kind::tuple)) {
    const auto parts = key.children();
    return std::all_of(parts.begin(), parts.end(), has_few_values);
  }
  if (key.is(Kind::call)) {
    const auto arguments = key.as_call().arguments();
    return !arguments.empty() && has_few_values(arguments.front());
  }
  if (key.is_literal() || is_one_of_few(last_name(key))) return true;
  const auto bindings = key.is(Kind::name) ? key.place().bindings() : List<PlaceBinding>();
  return bindings.size() == 1 && bindings.front().how == source::Bound::assign &&
         bindings.front().value.is(Kind::tuple) && has_few_values(bindings.front().value);
}

// What a cache of tensors costs; nothing is said of other values.
std::optional<Severity> cost(const Expr& expression) {
  const Value value = expression.value();
  if (value.is_gradful()) return Severity::error;
  // `device` may be the host as well.
  const bool is_surely_on_device =
      value.on_device && expression.text().find("cuda") != std::string_view::npos;
  if (value.is_tensor() && is_surely_on_device) return Severity::warning;
  if (value.is_tensor() || value.type == ValueType::array) return Severity::note;
  return std::nullopt;
}

// The one that costs most; absent where none is known to cost much.
Expr largest_result(const Function& function) {
  Expr largest;
  for (const Expr& value : function.returned()) {
    if (cost(value) && (!largest || *cost(value) > *cost(largest))) largest = value;
  }
  return largest;
}

// Some call hands over more than literals for a parameter that takes many values.
bool takes_many_values(const Function& function, const Expr& parameter, int position) {
  if (is_one_of_few(parameter.name())) return false;
  const auto sites = function.call_sites();
  return sites.empty() || std::any_of(sites.begin(), sites.end(), [&](const Call& site) {
           const Expr given = site.argument(parameter.name(), position);
           return given && !has_few_values(given);
         });
}

bool has_many_keys(const Function& function) {
  int position = 0;
  for (const Expr& parameter : function.parameters()) {
    if (takes_many_values(function, parameter, position++)) return true;
  }
  return false;
}

bool is_called_with_tensors(const Function& function) {
  for (const Call& site : function.call_sites()) {
    for (const Expr& argument : site.arguments()) {
      if (argument.value().is_tensor()) return true;
    }
  }
  return false;
}

void find_decorated(const SourceView& code, std::vector<Finding>& findings) {
  if (!code.uses("functools")) return;
  for (const Function& function : code.functions()) {
    for (const Expr& decorator : function.decorators()) {
      if (!is_any_cache(decorator) || function.is_method()) continue;
      const std::string name = "`" + std::string(function.name()) + "`";
      if (is_called_with_tensors(function)) {
        Finding finding =
            decorator.finding("Tensors are compared by identity: the cache of " + name +
                              " never hits and keeps every argument. Cache by a name or number.");
        finding.severity = Severity::warning;
        findings.push_back(std::move(finding));
        continue;
      }
      const Expr result = largest_result(function);
      if (!result || !is_unbounded_cache(decorator) || !has_many_keys(function)) continue;
      if (!function.place().calls_of({"cache_clear"}).empty()) continue;
      Finding finding = decorator.finding("The cache of " + name + " has no bound and keeps " +
                                          (result.value().is_tensor() ? "a tensor" : "an array") +
                                          " for every argument. Give it one: "
                                          "`functools.lru_cache(maxsize=128)`.");
      finding.severity = cost(result);
      findings.push_back(std::move(finding));
    }
  }
}

// `if key not in cache`, `cache.get(key)`, `cache.setdefault(key, …)`, or by its name.
bool is_cache(const Store& store) {
  const Expr container = store.container.root();
  const Place place = container.place();
  if (store.site.as_call().method() == "setdefault") return true;
  for (const Call& call : place.calls_of({"get"})) {
    if (call.function() == store.site.function()) return true;
  }
  for (const Expr& use : place.uses()) {
    if (use.parent().is(Kind::comparison) && use.function() == store.site.function()) return true;
  }
  return container.name().find("cache") != std::string_view::npos ||
         container.name().find("memo") != std::string_view::npos;
}

bool is_emptied(const SourceView& code, const Store& store) {
  const Place place = store.container.root().place();
  return code.is_bounded(store) || !place.calls_of({"clear", "pop", "popitem"}).empty();
}

bool is_weak(const Store& store) {
  return store.container.root().made_by().callee().dotted().substr(0, 8) == "weakref.";
}

void find_dictionaries(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    if (!store.index || !store.site.function() || store.index.is(Kind::slice)) continue;
    const auto severity = cost(store.value);
    if (!severity || has_few_values(store.index)) continue;
    if (!store.container.root().place().outlives(store.site) || !is_cache(store)) continue;
    const ValueType type = store.container.root().value().type;
    if (type != ValueType::dict && type != ValueType::unknown) continue;
    if (is_emptied(code, store) || is_weak(store) || code.runs_in_forward(store.site)) continue;
    Finding finding = store.value.finding(
        "The cache `" + std::string(store.container.text()) + "` has no bound and keeps `" +
        std::string(store.value.text().substr(0, kShown)) + "` for every new key" +
        (*severity == Severity::error ? ", with its graph. Store `.detach()`, and bound the cache."
         : *severity == Severity::warning ? ". Bound it, or move what it keeps off the device."
                                          : ". Bound it."));
    // How many keys come is not in the source.
    finding.severity = std::min(*severity, Severity::warning);
    const auto edit = code.detached(store);
    if (*severity == Severity::error && edit)
      finding.fixes.push_back({"Cache the value without its graph", "", {*edit}, false});
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy")) return findings;
  find_decorated(code, findings);
  find_dictionaries(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL109", "unbounded_tensor_cache", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::unbounded_tensor_cache
