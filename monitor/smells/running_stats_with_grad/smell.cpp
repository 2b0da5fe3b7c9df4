// A running statistic that is computed with gradients keeps the graphs of the batches it was made
// of.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::running_stats_with_grad {
namespace {

std::string message(const Holder& holder) {
  return holder.label + ", a statistic of a module, has gradients: its " + holder.largest +
         " keeps " + human(holder.held_bytes) + " of the activations of " +
         std::to_string(holder.count) + (holder.count == 1 ? " forward pass" : " forward passes") +
         " alive. Update it under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"statistics", "Keep the statistic, cut its graph", message});
}

using source::Bound;
using source::Field;
using source::Kind;

// How far a batch is followed: y = self.encode(x); mu = y.mean(0).
constexpr int kSteps = 5;

bool is_name_of_statistic(std::string_view name) {
  for (const std::string_view word :
       {"running", "moving", "ema", "avg", "average", "mean", "var", "std", "cov", "centre",
        "center", "centroid", "prototype", "codebook", "momentum"}) {
    const std::size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    // A word of the name, or its end: `ema`, `running_mean`, but not `schema` or `variant`.
    const bool begins = at == 0 || name[at - 1] == '_';
    const std::size_t after = at + word.size();
    const bool ends = after == name.size() || name[after] == '_' || name[after] == 's';
    if (begins && ends) return true;
  }
  return false;
}

// 0.9 * self.level + 0.1 * x: whatever its name is.
bool is_weighted(const Update& update) {
  for (const Expr& product : update.value.all(Kind::binary)) {
    if (product.op() != source::Operator::multiply) continue;
    for (const Expr& factor : product.children()) {
      if (factor.place() == update.target.place()) return true;
    }
  }
  return false;
}

bool is_buffer(const SourceView& code, const Expr& target) {
  for (const Call& call : code.calls_of({"register_buffer"})) {
    if (call.class_definition() == target.class_definition() &&
        call.argument("name", 0).string() == target.name()) {
      return true;
    }
  }
  return false;
}

bool is_parameter(const Place& place) {
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.value.as_call().callee().is_dotted(
            {"torch.nn.Parameter", "torch.nn.parameter.Parameter"})) {
      return true;
    }
  }
  return false;
}

/// Whether a value may lead back to what the layers before it computed.
bool comes_from_batch(const Expr& value, int depth);

bool name_comes_from_batch(const Expr& name, int depth) {
  const Value value = name.value();
  if (value.type != ValueType::unknown && !value.is_gradful()) return false;
  for (const PlaceBinding& binding : name.place().bindings()) {
    if (!(binding.target < name)) continue;
    if (binding.how == Bound::parameter) {
      const Function function = binding.target.function();
      return function.name() == "forward" && binding.target != function.parameters().front();
    }
    if (binding.how == Bound::assign && !binding.target.under_no_grad() &&
        !name.is_inside(binding.value) && comes_from_batch(binding.value, depth + 1)) {
      return true;
    }
  }
  return false;
}

bool comes_from_batch(const Expr& value, int depth) {
  if (!value || depth > kSteps || value.is_literal()) return false;
  if (value.value().is_gradful()) return true;
  if (value.value().is_tensor() && value.value().graph == HasGraph::no) return false;
  if (value.is(Kind::name)) return name_comes_from_batch(value, depth);
  if (value.value().type == ValueType::number || value.is(Kind::comparison)) return false;
  if (value.is(Kind::attribute)) {
    const std::string_view name = value.name();
    if (value.place().is_attribute()) return false;
    const bool is_size = name == "shape" || name == "data" || name == "device" || name == "dtype";
    return !is_size && comes_from_batch(value.child(Field::object), depth);
  }
  const Call call = value.as_call();
  if (call) {
    for (const std::string_view cut : {"detach", "item", "size", "tolist", "numpy", "argmax",
                                       "argmin", "argsort", "numel", "dim", "long", "int"}) {
      if (call.method() == cut) return false;
    }
    if (comes_from_batch(call.receiver(), depth)) return true;
    if (!call.receiver() && !call.callees().empty()) return false;
  }
  const Expr callee = value.child(Field::callee);
  for (const Expr& child : value.children()) {
    const Expr part = child.is(Kind::keyword) ? child.child(Field::right) : child;
    if (child != callee && comes_from_batch(part, depth)) return true;
  }
  return false;
}

// `self.centre`, in the forward pass of a module and with gradients on.
bool is_kept_in_forward(const SourceView& code, const Expr& target) {
  return target.is(Kind::attribute) && target.place().is_attribute() &&
         target.function().name() == "forward" &&
         code.is_derived(target.class_definition(), {"torch.nn.Module"}) &&
         !target.may_be_under_no_grad() && !is_parameter(target.place());
}

// The forward pass itself sets it again.
bool is_reset(const Expr& statement, const Expr& target) {
  for (const PlaceBinding& binding : target.place().bindings()) {
    if (binding.how == Bound::assign && binding.target.function() == statement.function() &&
        !binding.target.is_inside(statement) && !binding.value.mentions(target.place())) {
      return true;
    }
  }
  return false;
}

Finding told(const Expr& site, const Expr& target, bool is_average) {
  const std::string name(target.text());
  Finding finding =
      site.finding("`" + name + "` is made of a batch with its graph: " +
                   (is_average ? "each batch adds to a chain that reaches back to the first. "
                               : "the activations of that batch stay until the next. ") +
                   "Use the `.detach()` of the batch, or `with torch.no_grad():`.");
  finding.severity = Severity::warning;
  return finding;
}

List<Expr> from_batch(const List<Expr>& values) {
  List<Expr> result;
  for (const Expr& value : values) {
    if (comes_from_batch(value, 0)) result.push_back(value);
  }
  return result;
}

// self.mean = 0.9 * self.mean + 0.1 * batch_mean
void averages(const SourceView& code, std::vector<Finding>& findings) {
  for (const Update& update : code.updates()) {
    if (!update.is_sum() || !is_kept_in_forward(code, update.target)) continue;
    if (is_reset(update.site, update.target)) continue;
    const bool is_statistic = is_name_of_statistic(update.target.name()) || is_weighted(update);
    if (!is_statistic && !is_buffer(code, update.target)) continue;
    const auto parts = from_batch(update.added);
    if (parts.empty()) continue;
    Finding finding = told(update.site, update.target, true);
    Fix fix{"Add the batch without its graph", ""};
    bool is_certain = false;
    for (const Expr& part : parts) {
      if (const auto edit = part.detached()) fix.edits.push_back(*edit);
      is_certain |= part.value().is_gradful();
    }
    if (is_certain) finding.severity = Severity::error;
    if (fix.edits.size() == parts.size()) finding.fixes.push_back(std::move(fix));
    findings.push_back(std::move(finding));
  }
}

// self.prototype = features.mean(0), where prototype is a buffer.
void overwritten(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    const Expr right = statement.child(Field::right);
    if (!statement.is(Kind::assign) || !is_kept_in_forward(code, left)) continue;
    if (right.mentions(left.place()) || !is_buffer(code, left)) continue;
    if (!comes_from_batch(right, 0)) continue;
    Finding finding = told(statement, left, false);
    // A loss that is computed from the buffer wants its graph.
    finding.severity = Severity::note;
    const auto edit = right.detached();
    if (edit && !code.may_reach_backward(left.place()))
      finding.fixes.push_back({"Keep the statistic without its graph", "", {*edit}, false});
    findings.push_back(std::move(finding));
  }
}

// self.mean.mul_(0.9).add_(batch_mean)
void in_place(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_of({"add_", "lerp_", "copy_"})) {
    Expr target = call.receiver();
    while (target.as_call()) target = target.as_call().receiver();
    if (!is_kept_in_forward(code, target) || !is_buffer(code, target)) continue;
    const auto parts = from_batch(call.arguments());
    if (parts.empty()) continue;
    Finding finding = told(call, target, call.method() != "copy_");
    if (const auto edit = parts.front().detached())
      finding.fixes.push_back({"Add the batch without its graph", "", {*edit}});
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") || code.classes().empty()) return findings;
  averages(code, findings);
  overwritten(code, findings);
  in_place(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL207", "running_stats_with_grad", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::running_stats_with_grad
