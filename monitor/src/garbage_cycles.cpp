#include <algorithm>
#include <utility>

#include "xleak/monitor/graph.hpp"

namespace xleak::monitor {
namespace {

/// Some nodes of a graph, by numbers of their own, and what leads from one of them to another.
struct Part {
  Part(const Graph& whole, const Marks& in) : number(whole.size(), kNoNode) {
    for (GraphNode node = 0; node < whole.size(); ++node) {
      if (!in[node]) continue;
      number[node] = static_cast<GraphNode>(nodes.size());
      nodes.push_back(node);
    }
    for (const GraphNode node : nodes) {
      for (auto edge = whole.first[node]; edge < whole.first[node + 1]; ++edge) {
        const GraphNode next = number[whole.targets[edge]];
        if (next != kNoNode) graph.targets.push_back(next);
      }
      graph.end_row();
    }
  }

  Graph graph;
  LargeVector<GraphNode> nodes;   ///< By number: the node of the whole graph.
  LargeVector<GraphNode> number;  ///< By node of the whole graph; kNoNode for the others.
};

/// By component: whether its nodes lead back to themselves.
Marks are_cycles(const Graph& graph, const LargeVector<GraphNode>& component) {
  Marks cyclic(graph.size(), false);
  for (GraphNode node = 0; node < graph.size(); ++node) {
    for (auto edge = graph.first[node]; edge < graph.first[node + 1]; ++edge) {
      if (component[graph.targets[edge]] == component[node]) cyclic[component[node]] = true;
    }
  }
  return cyclic;
}

/// Marks what is reached from `node`, and returns what was not marked before.
LargeVector<GraphNode> mark(const Graph& graph, GraphNode node, Marks& marked) {
  LargeVector<GraphNode> reached;
  const auto add = [&](GraphNode next) {
    if (!marked[next]) reached.push_back(next);
    marked[next] = true;
  };
  add(node);
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const GraphNode from = reached[at];
    for (auto edge = graph.first[from]; edge < graph.first[from + 1]; ++edge)
      add(graph.targets[edge]);
  }
  return reached;
}

/// What a cycle without any of the suspects leads to.
std::optional<Marks> waiting_anyway(const Part& garbage, const Marks& suspected, const Stop& stop) {
  Marks others(garbage.nodes.size());
  for (GraphNode node = 0; node < others.size(); ++node)
    others[node] = !suspected[garbage.nodes[node]];
  const Part without(garbage.graph, others);
  const auto component = components(without.graph, stop);
  if (!component) return std::nullopt;
  const auto cyclic = are_cycles(without.graph, *component);
  Marks waiting(garbage.nodes.size(), false);
  for (GraphNode node = 0; node < without.nodes.size(); ++node) {
    if (cyclic[(*component)[node]]) mark(garbage.graph, without.nodes[node], waiting);
  }
  return waiting;
}

}  // namespace

std::optional<std::vector<GarbageCycle>> garbage_cycles(const Graph& graph, Marks garbage,
                                                        const std::vector<GraphNode>& suspects,
                                                        const LargeVector<std::int64_t>& bytes,
                                                        const Stop& stop) {
  Marks suspected(graph.size(), false);
  for (const GraphNode node : suspects) suspected[node] = true;
  const Part all(graph, garbage);
  const auto waiting = waiting_anyway(all, suspected, stop);
  if (!waiting) return std::nullopt;
  for (GraphNode node = 0; node < all.nodes.size(); ++node)
    if ((*waiting)[node]) garbage[all.nodes[node]] = false;
  const Part own(graph, garbage);
  const auto component = components(own.graph, stop);
  if (!component) return std::nullopt;
  const auto cyclic = are_cycles(own.graph, *component);
  std::vector<GarbageCycle> cycles(own.nodes.size());
  for (const GraphNode suspect : suspects) {
    const GraphNode node = own.number[suspect];
    if (node != kNoNode && cyclic[(*component)[node]])
      cycles[(*component)[node]].suspects.push_back(suspect);
  }
  cycles.erase(std::remove_if(cycles.begin(), cycles.end(),
                              [](const GarbageCycle& cycle) { return cycle.suspects.empty(); }),
               cycles.end());
  // A component has a higher number than those that it leads to.
  std::reverse(cycles.begin(), cycles.end());
  Marks counted(own.nodes.size(), false);
  for (GarbageCycle& cycle : cycles) {
    for (const GraphNode node : mark(own.graph, own.number[cycle.suspects.front()], counted))
      cycle.bytes += bytes[own.nodes[node]];
  }
  return cycles;
}

}  // namespace xleak::monitor
