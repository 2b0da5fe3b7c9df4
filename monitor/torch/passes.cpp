#include "passes.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "graph_walk.hpp"

namespace xleak::libtorch {
namespace {

/// A graph by numbers, each node after those next of it.
struct Numbered {
  struct Entry {
    std::vector<std::uint32_t> next;  ///< Each once.
    bool has_one_input = false;
    bool is_leaf = false;
  };
  std::vector<Entry> nodes;
  std::vector<std::size_t> uses;  ///< Of a leaf: the nodes that hand it a gradient.
};

NodeId id_of(const Node& node) {
  return {reinterpret_cast<std::uintptr_t>(&node), node.sequence_nr()};
}

Numbered numbered(const NodePointer& start, Passes& passes) {
  Numbered graph;
  std::unordered_map<const Node*, std::uint32_t> numbers;
  std::unordered_set<const Node*> seen;
  for_each_node(start, seen, [&](const NodePointer& node, const Nodes& next) {
    numbers.emplace(node.get(), static_cast<std::uint32_t>(graph.nodes.size()));
    Numbered::Entry entry{{}, node->num_outputs() == 1, leaf_of(*node) != nullptr};
    for (const NodePointer& deeper : next) entry.next.push_back(numbers.at(deeper.get()));
    std::sort(entry.next.begin(), entry.next.end());
    entry.next.erase(std::unique(entry.next.begin(), entry.next.end()), entry.next.end());
    graph.uses.push_back(0);
    for (const std::uint32_t deeper : entry.next) ++graph.uses[deeper];
    passes.widest = std::max(passes.widest, entry.next.size());
    graph.nodes.push_back(std::move(entry));
    return true;
  });
  return graph;
}

/// The most uses of `leaf` on one way. A leaf that is transposed or cast first has a chain of its
/// own to the node that uses it, which lies beside the way.
std::size_t uses_on_one_way(const Numbered& graph, std::uint32_t leaf) {
  std::vector<bool> own(graph.nodes.size(), false);
  std::vector<std::size_t> on_way(graph.nodes.size(), 0);
  own[leaf] = true;
  for (std::size_t at = leaf + 1; at < graph.nodes.size(); ++at) {
    const Numbered::Entry& node = graph.nodes[at];
    bool uses = false;
    for (const std::uint32_t deeper : node.next) {
      uses = uses || own[deeper];
      on_way[at] = std::max(on_way[at], on_way[deeper]);
    }
    if (uses && node.has_one_input) own[at] = true;
    if (uses && !node.has_one_input) ++on_way[at];
  }
  return on_way.back();
}

}  // namespace

Passes passes_of(PyObject* tensor_or_node) {
  Passes passes;
  const NodePointer start = node_of(tensor_or_node);
  if (!start) return passes;
  passes.node = id_of(*start);
  const Numbered graph = numbered(start, passes);
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].is_leaf) leaves.push_back(node);
  }
  if (leaves.empty()) return passes;
  const auto fewer = [&](auto one, auto other) { return graph.uses[one] < graph.uses[other]; };
  const auto [least, most] = std::minmax_element(leaves.begin(), leaves.end(), fewer);
  passes.count = graph.uses[*least];
  // Of those used most some may lie beside the way: what leads an input into a recurrent cell.
  for (const std::uint32_t leaf : leaves) {
    if (passes.count < 2 || passes.in_sequence || graph.uses[leaf] < graph.uses[*most]) continue;
    passes.in_sequence = 2 * uses_on_one_way(graph, leaf) > graph.uses[leaf];
  }
  return passes;
}

bool leads_to(PyObject* tensor_or_node, NodeId node) {
  bool found = false;
  std::unordered_set<const Node*> seen;
  for_each_node(node_of(tensor_or_node), seen, [&](const NodePointer& it, const Nodes&) {
    found = id_of(*it) == node;
    return !found;
  });
  return found;
}

}  // namespace xleak::libtorch
