#include <algorithm>

#include "stop_watch.hpp"

namespace xleak::monitor {

std::optional<LargeVector<GraphNode>> shortest_ways(const Graph& graph, GraphNode root,
                                                    const std::vector<GraphNode>& avoided,
                                                    const Stop& stop) {
  StopWatch watch(stop);
  LargeVector<GraphNode> before(graph.size(), kNoNode);
  // What has a node before it is not entered again.
  before[root] = root;
  for (const GraphNode node : avoided) before[node] = node;
  LargeVector<GraphNode> queue{root};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const GraphNode node = queue[at];
    for (auto edge = graph.first[node]; edge < graph.first[node + 1]; ++edge) {
      if (watch.step()) return std::nullopt;
      const GraphNode next = graph.targets[edge];
      if (before[next] != kNoNode) continue;
      before[next] = node;
      queue.push_back(next);
    }
  }
  before[root] = kNoNode;
  for (const GraphNode node : avoided) before[node] = kNoNode;
  return before;
}

std::vector<GraphNode> way_to(const LargeVector<GraphNode>& before, GraphNode root,
                              GraphNode node) {
  std::vector<GraphNode> way{node};
  while (way.back() != root) {
    if (before[way.back()] == kNoNode) return {};
    way.push_back(before[way.back()]);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

std::optional<std::int64_t> reachable_bytes(const Graph& graph, GraphNode node,
                                            const LargeVector<std::int64_t>& bytes, Marks avoided,
                                            std::size_t most) {
  std::size_t followed = 0;
  LargeVector<GraphNode> pending{node};
  avoided[node] = true;
  std::int64_t sum = 0;
  while (!pending.empty()) {
    const GraphNode at = pending.back();
    pending.pop_back();
    sum += bytes[at];
    for (auto edge = graph.first[at]; edge < graph.first[at + 1]; ++edge) {
      if (++followed > most) return std::nullopt;
      const GraphNode next = graph.targets[edge];
      if (!avoided[next]) pending.push_back(next);
      avoided[next] = true;
    }
  }
  return sum;
}

}  // namespace xleak::monitor
