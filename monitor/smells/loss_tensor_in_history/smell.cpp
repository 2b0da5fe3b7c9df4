// A loss that is logged as a tensor keeps the graph that it came from.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::loss_tensor_in_history {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " losses in " + holder.label + " keep " +
         human(holder.held_bytes) +
         " alive by their autograd graphs: the activations of every forward pass. Store "
         "`loss.item()` in place of the tensor.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {"graphs of scalars", "Take the graphs, keep the values", message});
}

// The text of an expression in a message ends here.
constexpr std::size_t kShown = 60;

// `d.update(loss=loss)` writes the same keys again, and a meter takes what it is given.
bool writes_same_keys(const Store& store) { return store.site.as_call().method() == "update"; }

// `step(batch)` leads back what it returns.
bool leads_back(const SourceView& code, const Call& call) {
  for (const Function& function : call.callees()) {
    for (const Expr& value : function.returned()) {
      if (code.reaches_backward(value.root().place())) return true;
    }
  }
  return false;
}

// `loss`, `loss.cpu()` and `loss / n`, where `loss.backward()` ran.
bool was_led_back(const SourceView& code, const Expr& value) {
  if (value.is(source::Kind::binary)) {
    for (const Expr& operand : value.children()) {
      if (was_led_back(code, operand)) return true;
    }
    return false;
  }
  const Expr root = value.root();
  if (leads_back(code, root.as_call()) || code.reaches_backward(root.place())) return true;
  for (const PlaceBinding& binding : root.place().bindings()) {
    if (leads_back(code, binding.value.as_call())) return true;
    // A sum of losses, each of which was led back.
    if (binding.how == source::Bound::augmented &&
        code.reaches_backward(binding.value.root().place())) {
      return true;
    }
  }
  return false;
}

// It is rebuilt now and then: one epoch's losses, each with its nodes.
bool is_plain_list(const Store& store) { return store.container.value().type == ValueType::list; }

// `net.weight.clone()` has a graph of one node.
bool is_of_weights(const Expr& value) {
  const Expr root = value.root();
  if (root.value().leaf) return true;
  const auto bindings = root.place().bindings();
  return bindings.size() == 1 && bindings.front().value.root() != root &&
         bindings.front().value.root().value().leaf;
}

// Nothing takes it out again while losses keep coming.
bool grows(const SourceView& code, const Store& store, bool led_back) {
  const auto loops = store.value.loops();
  const bool repeats =
      !loops.empty() || store.value.in_loop() || store.site.function().name() == "training_step";
  if (!repeats || (!loops.empty() && loops.front().is_over_parts())) return false;
  if (code.is_bounded(store)) return led_back && !loops.empty() && is_plain_list(store);
  return code.is_long_lived(store) || (led_back && !loops.empty() && is_plain_list(store));
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Store& store : code.stores()) {
    if (!store.value.value().is_gradful() || !store.value.is_loss_like()) continue;
    if (writes_same_keys(store) || code.reaches_backward(store.container.root().place())) continue;
    if (is_of_weights(store.value)) continue;
    if (code.is_replay_memory(store) && !store.value.value().loss) continue;
    const bool led_back = was_led_back(code, store.value);
    if (!grows(code, store, led_back)) continue;
    const std::string loss = "`" + std::string(store.value.text().substr(0, kShown)) + "`";
    Finding finding = store.value.finding(
        loss + " is kept in `" + std::string(store.container.text()) + "` as a tensor, " +
        (led_back ? "and the nodes of its graph with it, step after step."
                  : "and with it all that its forward pass saved, batch after batch.") +
        (store.value.is_scalar() ? " Keep the number: `.item()` or `.detach()`."
                                 : " Keep its `.detach()`."));
    finding.severity = led_back ? Severity::warning : Severity::error;
    if (const auto edit = code.detached(store))
      finding.fixes.push_back({"Keep the value without its graph", "", {*edit}});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL102", "loss_tensor_in_history", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::loss_tensor_in_history
