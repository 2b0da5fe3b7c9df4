// A backward pass that retains the graph leaves all activations to whoever still has the loss.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::retained_graph {
namespace {

std::string message(const Holder& holder) {
  return "A backward pass from " + holder.label + " ran with `retain_graph=True`: its " +
         holder.largest + " still keeps " + human(holder.held_bytes) +
         " of activations alive. Leave the flag out of the last backward pass.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"retained graphs", "Keep the value, cut its graph", message});
}

using source::Bound;
using source::Field;
using source::Kind;

// How far what was led back is followed: loss = a + b; a = f(out); out = net(x).
constexpr int kSteps = 6;

bool is_gradient_function(const Call& call) {
  return call.callee().is_dotted({"torch.autograd.grad"});
}

// What `retain_graph=True` stands for, where it is written so.
Expr flag_of(const Call& call) {
  const int position = is_gradient_function(call)                             ? 3
                       : call.callee().is_dotted({"torch.autograd.backward"}) ? 2
                                                                              : 1;
  const Expr flag = call.argument("retain_graph", position);
  return flag.is(Kind::true_literal) ? flag : Expr();
}

bool needs_its_graph(const Call& call) {
  const Expr second_order = call.keyword("create_graph");
  return second_order && !second_order.is_false();
}

Expr led_back(const Call& call) {
  const bool is_function =
      is_gradient_function(call) || call.callee().is_dotted({"torch.autograd.backward"});
  return is_function ? call.argument("outputs", 0) : call.receiver();
}

// A pass by any name: backward(), manual_backward(), a function called grad.
bool is_pass(const Call& call) {
  const std::string_view name = call.callee().name();
  return name.find("backward") != std::string_view::npos || name == "grad" || name == "gradient" ||
         name == "jacobian" || name == "hessian";
}

bool may_lead_back(const SourceView& code, const Call& call, const Place& loss) {
  if (is_pass(call)) return true;
  for (const Function& function : call.callees()) {
    for (const Call& inner : code.calls_in(function.body())) {
      if (is_pass(inner)) return true;
    }
  }
  if (!call.callees().empty() || !call.callee().is(Kind::name)) return false;
  if (!call.callee().dotted().empty()) return false;
  for (const Expr& argument : call.arguments()) {
    if (loss && argument.place() == loss) return true;
  }
  return false;
}

/// Whose graph a value has: that of this iteration alone, or of others too.
enum class Graphs { own, unclear, shared };

struct Origin {
  Graphs graphs = Graphs::own;
  bool has_model = false;

  void add(const Origin& other) {
    if (other.graphs > graphs) graphs = other.graphs;
    has_model |= other.has_model;
  }
};

Origin origin_of(const Expr& value, const Expr& body, int depth);

// Data, numbers, weights: nothing that a second pass would go through.
bool has_no_graph(const Expr& expression) {
  const Value value = expression.value();
  switch (value.type) {
    case ValueType::unknown:
      return false;
    case ValueType::tensor:
    case ValueType::model_output:
      return value.graph == HasGraph::no || value.leaf;
    default:
      return true;
  }
}

// The names that a value was made of, with the graphs that they have at the top level.
void collect_graphs(const Expr& value, std::vector<Place>& places, int depth) {
  if (depth > kSteps) return;
  for (const Expr& name : value.all(Kind::name)) {
    const Place place = name.place();
    const bool is_known = std::find(places.begin(), places.end(), place) != places.end();
    if (!place || is_known || !name.dotted().empty() || has_no_graph(name)) continue;
    places.push_back(place);
    for (const PlaceBinding& binding : place.bindings()) {
      if (binding.how == Bound::assign && binding.target < name)
        collect_graphs(binding.value, places, depth + 1);
    }
  }
}

bool share_a_graph(const Call& pass, const Call& later) {
  std::vector<Place> here, there;
  collect_graphs(led_back(pass), here, 0);
  collect_graphs(later, there, 0);
  return std::any_of(here.begin(), here.end(), [&](const Place& place) {
    return std::find(there.begin(), there.end(), place) != there.end();
  });
}

// A later pass in the same iteration; at the top level, where nothing repeats, one of the same
// graph.
bool is_followed(const SourceView& code, const Call& pass, const Expr& body) {
  const Place loss = led_back(pass).place();
  for (const Call& call : code.calls()) {
    if (call < pass || call == pass || call.is_inside(pass)) continue;
    if (call.function() != pass.function() || (body && !call.is_inside(body))) continue;
    if (!may_lead_back(code, call, loss)) continue;
    if (body || share_a_graph(pass, call)) return true;
    for (const Function& function : call.callees()) {
      if (function.body().mentions(loss)) return true;
    }
  }
  return false;
}

Origin origin_of_name(const Expr& name, const Expr& body, int depth) {
  Origin origin;
  const Place place = name.place();
  bool is_made_here = false;
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how == Bound::function || binding.how == Bound::import ||
        binding.how == Bound::class_definition || binding.how == Bound::loop) {
      return origin;
    }
    const bool is_here = !body || binding.target.is_inside(body);
    if (!is_here || !(binding.target < name) || name.is_inside(binding.target.statement()))
      continue;
    is_made_here = true;
    origin.add(origin_of(binding.value, body, depth + 1));
  }
  if (is_made_here || has_no_graph(name)) return origin;
  if (place.is_attribute() || place.bindings().empty()) return {Graphs::shared, false};
  bool is_parameter = true;
  for (const PlaceBinding& binding : place.bindings())
    is_parameter &= binding.how == Bound::parameter;
  return {is_parameter && depth > 0 ? Graphs::unclear : Graphs::shared, false};
}

Origin origin_of(const Expr& value, const Expr& body, int depth) {
  Origin origin;
  if (!value || value.is_literal()) return origin;
  if (depth > kSteps) return {Graphs::unclear, false};
  if (value.is(Kind::name)) return origin_of_name(value, body, depth);
  if (value.is(Kind::attribute)) {
    return value.place() ? origin_of_name(value, body, depth)
                         : origin_of(value.child(Field::object), body, depth);
  }
  const Call call = value.as_call();
  if (call) {
    origin.has_model = call.callee().value().type == ValueType::module;
    const bool on_value = !origin.has_model && call.receiver() && call.callees().empty() &&
                          call.callee().dotted().empty() &&
                          call.receiver().value().type != ValueType::loss_function;
    const bool on_self = call.receiver().name() == "self";
    if (on_value && !on_self && call.receiver().value().type != ValueType::module)
      origin.add(origin_of(call.receiver(), body, depth));
  }
  const Expr callee = value.child(Field::callee);
  for (const Expr& child : value.children()) {
    if (child == callee) continue;
    origin.add(origin_of(child.is(Kind::keyword) ? child.child(Field::right) : child, body, depth));
  }
  return origin;
}

// What runs once an iteration: the loop's body, the function's; absent at the top level.
Expr body_of(const Call& call) {
  const auto loops = call.loops();
  if (!loops.empty())
    return loops.front().is(Kind::comprehension) ? Expr(loops.front()) : loops.front().body();
  return call.function() ? call.function().body() : Expr();
}

bool is_kept(const SourceView& code, const Place& loss) {
  for (const Store& store : code.stores()) {
    if (loss && store.value.place() == loss && store.site.in_loop()) return true;
  }
  return false;
}

bool is_kept_for_later(const SourceView& code, const Place& loss) {
  for (const Store& store : code.stores()) {
    if (loss && store.value.place() == loss && code.reaches_backward(store.container.place()))
      return true;
  }
  for (const Update& update : code.updates()) {
    for (const Expr& added : update.added) {
      if (loss && added.place() == loss && code.reaches_backward(update.target.place()))
        return true;
    }
  }
  return false;
}

Edit without(const Call& pass, const Expr& flag) {
  const Expr keyword = flag.parent();
  const bool is_alone = keyword.is(Kind::keyword) && pass.children().size() == 2;
  return is_alone ? keyword.replaced_by("") : flag.replaced_by("False");
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  auto passes = code.calls_of({"backward"});
  for (const Call& call : code.calls_to({"torch.autograd.grad"})) passes.push_back(call);
  for (const Call& pass : passes) {
    const Expr flag = flag_of(pass);
    if (!flag || needs_its_graph(pass)) continue;
    const Expr body = body_of(pass);
    const Place loss = led_back(pass).place();
    if (is_followed(code, pass, body) || is_kept_for_later(code, loss)) continue;
    const Origin origin = origin_of(led_back(pass), body, 0);
    if (origin.graphs == Graphs::shared) continue;
    Finding finding = pass.finding(
        "`retain_graph=True` keeps all activations after the last pass through this graph, for as "
        "long as `" +
        std::string(led_back(pass).text()) + "` lives. Leave the flag out.");
    const bool is_sure = origin.graphs == Graphs::own && origin.has_model;
    finding.severity = !is_sure              ? Severity::note
                       : is_kept(code, loss) ? Severity::error
                                             : Severity::warning;
    Fix fix{"Leave the flag out", "", {without(pass, flag)}, is_sure};
    finding.fixes.push_back(std::move(fix));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL206", "retained_graph", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::retained_graph
