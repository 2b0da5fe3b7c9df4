// What a forward pass leaves on its module lives as long as the module.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::forward_tensor_on_self {
namespace {

std::string one_tensor(const Holder& holder) {
  return holder.label + " is a tensor that the forward pass left on the module; it alone keeps " +
         human(holder.held_bytes) + " alive, with its graph, until the next pass. Free it with `" +
         holder.release + "`; use a local variable, or `.detach()` what you look at later.";
}

std::string many(const Holder& holder) {
  return holder.label + " of a module has grown to " + std::to_string(holder.count) +
         " elements and " + human(holder.held_bytes) +
         " over several executions. Free them with `" + holder.release +
         "`, and return from the forward pass what you need.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"tensor of a forward pass", "Let go of it", one_tensor});
  for (Finding& grown :
       holder_findings(session, {"growing container of a module", "Empty the container", many})) {
    // One batch is bounded; this is not.
    grown.severity = Severity::error;
    findings.push_back(std::move(grown));
  }
  return findings;
}

using source::Field;
using source::Kind;

// The layer that it is handed to takes a tensor.
bool is_input_tensor(const Expr& value) {
  const Place place = value.place();
  if (!value.is(Kind::name)) return false;
  const auto bindings = place.bindings();
  if (bindings.size() != 1 || bindings.front().how != source::Bound::parameter) return false;
  for (const Expr& use : place.uses()) {
    const Call call = use.parent().as_call();
    if (!call || call.callee() == use || call.callee().value().type != ValueType::module) continue;
    const auto arguments = call.arguments();
    if (!arguments.empty() && arguments.front() == use) return true;
  }
  return false;
}

bool keeps_pass(const Expr& value) {
  if (value.value().is_gradful()) return true;
  return is_input_tensor(value) && !value.under_no_grad();
}

// `self.keys = None` in `reset()`; what `__init__` says is the beginning.
bool is_reset(const Expr& attribute) {
  for (const PlaceBinding& binding : attribute.place().bindings()) {
    const bool frees = binding.how == source::Bound::deleted || binding.value.is(Kind::none) ||
                       binding.value.is(Kind::list) || binding.value.is(Kind::dict);
    // A name here is that of the class body, which says how it begins.
    const bool is_begin =
        binding.target.is(Kind::name) || binding.target.function().name() == "__init__";
    if (frees && !is_begin) return true;
  }
  return false;
}

// What a pass reads before it writes is the state that it carries on.
bool is_state(const SourceView& code, const Expr& attribute) {
  for (const Expr& use : attribute.place().uses()) {
    if (use < attribute && code.runs_in_forward(use)) return true;
  }
  return false;
}

bool is_read_elsewhere(const SourceView& code, const Expr& attribute) {
  for (const Expr& use : attribute.place().uses()) {
    if (!code.runs_in_forward(use)) return true;
  }
  return false;
}

Finding of_attribute(const SourceView& code, const Expr& attribute, const Expr& value) {
  const std::string name = "`" + std::string(attribute.text()) + "`";
  Finding finding = attribute.finding(
      name +
      " keeps a tensor of the last pass, and what its graph holds, for as long as the "
      "module lives. Use a local variable, or store its `.detach()`.");
  // Whoever reads it elsewhere may need its graph.
  const bool is_needed = value.value().loss || is_read_elsewhere(code, attribute);
  if (is_needed) finding.severity = Severity::note;
  const bool used_here = !attribute.place().uses().empty();
  const auto edit = value.detached();
  if (edit && !code.may_reach_backward(attribute.place())) {
    finding.fixes.push_back({"Store it without its graph", "", {*edit}, !used_here && !is_needed});
  }
  return finding;
}

void find_attributes(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    const Expr right = statement.child(Field::right);
    if (!statement.is(Kind::assign) || !left.is(Kind::attribute)) continue;
    if (!left.place().outlives(statement) || !code.runs_in_forward(statement)) continue;
    if (statement.is_guarded() || !keeps_pass(right) || right.mentions(left.place())) continue;
    if (is_reset(left) || is_state(code, left)) continue;
    findings.push_back(of_attribute(code, left, right));
  }
}

// XL102 tells of these.
bool is_loss_history(const Store& store) {
  return store.site.function().name() == "training_step" && store.value.value().is_gradful() &&
         store.value.is_loss_like();
}

void find_lists(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    const Expr list = store.container.root();
    if (store.index || store.site.is(Kind::comprehension) || !list.is(Kind::attribute)) continue;
    if (!list.place().outlives(store.site) || !code.runs_in_forward(store.site)) continue;
    const bool has_tensor = store.value.value().is_tensor() || is_input_tensor(store.value);
    if (!has_tensor || is_reset(list) || code.is_bounded(store)) continue;
    if (code.is_replay_memory(store) || is_loss_history(store)) continue;
    Finding finding = store.value.finding(
        "Each pass adds a tensor to `" + std::string(list.text()) +
        "`, which nothing empties: memory grows as long as the module is used. Return it, or "
        "empty the list.");
    // What is kept on demand is wanted.
    if (store.site.is_guarded()) {
      finding.severity = Severity::note;
    } else if (store.value.value().is_gradful()) {
      finding.severity = Severity::error;
    }
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("lightning")) return findings;
  find_attributes(code, findings);
  find_lists(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL103", "forward_tensor_on_self", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::forward_tensor_on_self
