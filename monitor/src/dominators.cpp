#include <algorithm>

#include "stop_watch.hpp"

namespace xleak::monitor {
namespace {

/// What is reached from the root, numbered in the order of a depth-first search. All nodes below
/// are such numbers: 0 is the root, and parents come before their children.
struct Preorder {
  LargeVector<GraphNode> node_of;
  LargeVector<GraphNode> number_of;  ///< By node of the graph; kNoNode: not reached.
  LargeVector<GraphNode> parent;
};

std::optional<Preorder> number_nodes(const Graph& graph, GraphNode root, StopWatch& watch) {
  struct Visit {
    GraphNode number;
    std::uint64_t next_edge;
  };
  Preorder order;
  order.number_of.assign(graph.size(), kNoNode);
  LargeVector<Visit> visits;
  const auto enter = [&](GraphNode node, GraphNode parent) {
    order.number_of[node] = static_cast<GraphNode>(order.node_of.size());
    visits.push_back({order.number_of[node], graph.first[node]});
    order.node_of.push_back(node);
    order.parent.push_back(parent);
  };
  enter(root, 0);
  while (!visits.empty()) {
    if (watch.step()) return std::nullopt;
    Visit& visit = visits.back();
    const GraphNode number = visit.number;
    if (visit.next_edge == graph.first[order.node_of[number] + 1]) {
      visits.pop_back();
      continue;
    }
    const GraphNode next = graph.targets[visit.next_edge++];
    if (order.number_of[next] == kNoNode) enter(next, number);
  }
  return order;
}

/// The edges turned round, in numbers of the preorder.
Graph predecessors(const Graph& graph, const Preorder& order) {
  const std::size_t count = order.node_of.size();
  Graph turned;
  turned.first.assign(count + 1, 0);
  const auto each_edge = [&](auto take) {
    for (GraphNode from = 0; from < count; ++from) {
      const GraphNode node = order.node_of[from];
      for (auto edge = graph.first[node]; edge < graph.first[node + 1]; ++edge)
        take(from, order.number_of[graph.targets[edge]]);
    }
  };
  each_edge([&](GraphNode, GraphNode to) { turned.first[to + 1] += 1; });
  for (std::size_t i = 0; i < count; ++i) turned.first[i + 1] += turned.first[i];
  turned.targets.resize(turned.first[count]);
  LargeVector<std::uint64_t> next(turned.first.begin(), turned.first.end() - 1);
  each_edge([&](GraphNode from, GraphNode to) { turned.targets[next[to]++] = from; });
  return turned;
}

/// The forest of the nodes that were treated, with paths made shorter as they are asked.
class Forest {
 public:
  explicit Forest(const LargeVector<GraphNode>& parent) : ancestor_(parent) {
    for (GraphNode i = 0; i < parent.size(); ++i) {
      semi_.push_back(i);
      label_.push_back(i);
    }
  }

  GraphNode& semi(GraphNode node) { return semi_[node]; }

  /// The node with the least semidominator on the path from `node` up to, not including, the first
  /// that was not treated yet: those before `treated`.
  GraphNode least(GraphNode node, GraphNode treated) {
    if (node < treated) return node;
    path_.clear();
    for (GraphNode at = node; ancestor_[at] >= treated; at = ancestor_[at]) path_.push_back(at);
    for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
      const GraphNode above = ancestor_[*at];
      if (semi_[label_[above]] < semi_[label_[*at]]) label_[*at] = label_[above];
      ancestor_[*at] = ancestor_[above];
    }
    return label_[node];
  }

 private:
  LargeVector<GraphNode> ancestor_;
  LargeVector<GraphNode> semi_;
  LargeVector<GraphNode> label_;
  LargeVector<GraphNode> path_;
};

std::optional<LargeVector<GraphNode>> dominators_by_number(const Graph& predecessor,
                                                           const LargeVector<GraphNode>& parent,
                                                           StopWatch& watch) {
  const auto count = static_cast<GraphNode>(parent.size());
  Forest forest(parent);
  for (GraphNode node = count - 1; node > 0; --node) {
    GraphNode semi = parent[node];
    for (auto edge = predecessor.first[node]; edge < predecessor.first[node + 1]; ++edge) {
      if (watch.step()) return std::nullopt;
      semi = std::min(semi, forest.semi(forest.least(predecessor.targets[edge], node + 1)));
    }
    forest.semi(node) = semi;
  }
  LargeVector<GraphNode> dominator(parent);
  for (GraphNode node = 1; node < count; ++node) {
    while (dominator[node] > forest.semi(node)) dominator[node] = dominator[dominator[node]];
  }
  return dominator;
}

}  // namespace

std::optional<DominatorTree> dominators(const Graph& graph, GraphNode root, const Stop& stop) {
  StopWatch watch(stop);
  auto order = number_nodes(graph, root, watch);
  if (!order) return std::nullopt;
  const auto by_number = dominators_by_number(predecessors(graph, *order), order->parent, watch);
  if (!by_number) return std::nullopt;
  DominatorTree tree;
  tree.dominator.assign(graph.size(), kNoNode);
  for (std::size_t i = 1; i < order->node_of.size(); ++i)
    tree.dominator[order->node_of[i]] = order->node_of[(*by_number)[i]];
  tree.order = std::move(order->node_of);
  return tree;
}

LargeVector<std::int64_t> retained_bytes(const DominatorTree& tree,
                                         const LargeVector<std::int64_t>& bytes) {
  LargeVector<std::int64_t> retained(bytes.size(), 0);
  for (const GraphNode node : tree.order) retained[node] = bytes[node];
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const GraphNode node = tree.order[i];
    retained[tree.dominator[node]] += retained[node];
  }
  return retained;
}

}  // namespace xleak::monitor
