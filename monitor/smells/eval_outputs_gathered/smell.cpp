// The outputs of a whole evaluation wait on the device for a mean that could be taken batch by
// batch.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::eval_outputs_gathered {
namespace {

using source::Field;
using source::Kind;

bool is_reduction(std::string_view name) {
  for (const std::string_view word : {"argmax", "argmin", "mean", "sum", "max", "min", "topk", "eq",
                                      "std", "var", "norm", "any", "all"}) {
    if (name == word) return true;
  }
  return false;
}

// What is stored is as large as the output of the model, and where the model put it.
bool is_whole_output(const Expr& stored) {
  Expr value = stored;
  while (value.is(Kind::attribute) &&
         (value.name() == "logits" || value.name() == "last_hidden_state"))
    value = value.child(Field::object);
  if (value.is(Kind::name)) {
    for (const PlaceBinding& binding : value.place().bindings()) {
      if (binding.how == source::Bound::assign && binding.position < 0 && binding.target < value &&
          binding.target.function() == value.function()) {
        return is_whole_output(binding.value);
      }
    }
    return false;
  }
  const Call call = value.as_call();
  if (call.method() == "detach") return is_whole_output(call.receiver());
  return call && call.callee().value().type == ValueType::module;
}

bool is_on_device(const Expr& stored) {
  for (const Expr& call : stored.all(Kind::call)) {
    if (call.as_call().callee().value().on_device) return true;
    const std::string_view method = call.as_call().method();
    if (method == "cuda" || method == "to") return true;
  }
  for (const PlaceBinding& binding : stored.place().bindings()) {
    if (binding.target < stored && binding.value.as_call() && is_on_device(binding.value))
      return true;
  }
  return false;
}

// `joined.argmax(-1)`, `joined == gold`, `torch.mean(joined)`.
bool is_reduced(const Expr& joined) {
  const Expr above = joined.parent();
  if (above.is(Kind::comparison)) return true;
  if (above.is(Kind::attribute) && above.parent().as_call()) return is_reduction(above.name());
  const Call call = above.as_call();
  return call && call.callee().dotted().substr(0, 6) == "torch." &&
         is_reduction(call.callee().name());
}

bool is_only_reduced(const Call& join) {
  const Expr target = join.target();
  if (!target) return is_reduced(join);
  const auto uses = target.place().uses();
  for (const Expr& use : uses) {
    if (!is_reduced(use)) return false;
  }
  return !uses.empty();
}

// All that happens to the outputs: joined, and the joined only reduced.
bool is_gathered_for_a_number(const Place& container) {
  bool is_joined = false;
  for (const Expr& use : container.uses()) {
    const Call call = use.parent().as_call();
    if (call &&
        call.callee().is_dotted({"torch.cat", "torch.stack", "torch.concat", "torch.vstack"})) {
      if (!is_only_reduced(call)) return false;
      is_joined = true;
    } else if (use.parent().name() != "append") {
      return false;
    }
  }
  return is_joined;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("transformers")) return findings;
  for (const Store& store : code.stores()) {
    if (!store.site.under_no_grad() || store.value.loops().empty()) continue;
    if (store.index || !is_whole_output(store.value)) continue;
    if (!is_gathered_for_a_number(store.container.place())) continue;
    Finding finding = store.site.finding(
        "`" + std::string(store.container.text()) +
        "` gathers the outputs of all batches, and the join doubles them, only to reduce them to a "
        "few numbers. Reduce each batch (`argmax`, `sum`) before you keep it, or move it to the "
        "CPU.");
    if (!is_on_device(store.value)) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  const std::string free_it =
      holder.release.empty() ? "" : "Free them with `" + holder.release + "`. ";
  return holder.label + " keeps " + std::to_string(holder.count) + " outputs, " +
         human(holder.held_bytes) + " of " + holder.largest +
         " memory, that were only reduced to a few numbers. " + free_it +
         "Reduce each batch (`argmax`, `sum`) before you keep it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule on_host{"outputs", "Let the outputs go", message};
  // The host has more room, and no larger batch waits for it.
  return holder_findings(session, {{"outputs on a device", "Let the outputs go", message},
                                   on_host.as(Severity::note)});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL323", "eval_outputs_gathered", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::eval_outputs_gathered
