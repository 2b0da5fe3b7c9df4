// Every output in a container keeps the whole graph of its forward pass.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::graph_kept_in_container {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " tensors in " + holder.label + " keep " +
         human(holder.held_bytes) +
         " alive by their autograd graphs: the activations of every forward pass. Store "
         "`output.detach()`, or run under `torch.no_grad()`.";
}

std::string message_of_one(const Holder& holder) {
  const bool several = holder.count > 1;
  return holder.label + (several ? " (tensors) keeps " : " (a tensor) keeps ") +
         human(holder.held_bytes) +
         " alive by its autograd graph, the activations of a forward pass, and no later cell runs "
         "a backward pass. " +
         (holder.release.empty() ? "Store"
                                 : "Take the graph with `" + holder.release + "`, store") +
         " `output.detach()`, or run under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"graphs of tensors", "Take the graphs, keep the values", message});
  for (Finding& single : holder_findings(
           session, {"graph of a tensor", "Take the graph, keep the value", message_of_one})) {
    single.severity = Severity::warning;
    findings.push_back(std::move(single));
  }
  return findings;
}

// The text of an expression in a message ends here.
constexpr std::size_t kShown = 60;

// What is written by an index must be a dictionary: into a tensor or an array it is copied.
bool takes_references(const Store& store) {
  if (!store.index) return store.site.as_call().method() != "update";
  const ValueType type = store.container.root().value().type;
  return type == ValueType::dict || type == ValueType::list;
}

// `net.weight.clone()` has a graph of one node.
bool is_of_weights(const Expr& value) {
  const Expr root = value.root();
  if (root.value().leaf) return true;
  const auto bindings = root.place().bindings();
  return bindings.size() == 1 && bindings.front().value.root() != root &&
         bindings.front().value.root().value().leaf;
}

bool grows(const SourceView& code, const Store& store) {
  const auto loops = store.value.loops();
  if (!store.value.in_loop() || (!loops.empty() && loops.front().is_over_parts())) return false;
  return code.is_long_lived(store) && takes_references(store) && !code.is_bounded(store);
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Store& store : code.stores()) {
    if (!store.value.value().is_gradful() || store.value.is_loss_like()) continue;
    if (code.is_replay_memory(store) || is_of_weights(store.value)) continue;
    if (!grows(code, store) || code.reaches_backward(store.container.root().place())) continue;
    // A backward pass lets go of the activations; the nodes of the graph stay.
    const bool led_back = code.reaches_backward(store.value.root().place());
    Finding finding = store.value.finding(
        "`" + std::string(store.value.text().substr(0, kShown)) + "` goes into `" +
        std::string(store.container.text()) + "` with its autograd graph: " +
        (led_back ? "its nodes stay" : "the activations of every batch stay") +
        " in memory. Store its `.detach()`" +
        (led_back ? "." : ", or run the loop under `torch.no_grad()`."));
    if (led_back) finding.severity = Severity::warning;
    if (const auto edit = code.detached(store))
      finding.fixes.push_back({"Store the value without its graph", "", {*edit}});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL101", "graph_kept_in_container", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::graph_kept_in_container
