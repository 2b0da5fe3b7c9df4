#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "xleak/monitor/export.hpp"
#include "xleak/monitor/large_vector.hpp"

namespace xleak::monitor {

/// A node of a graph, counted from 0.
using GraphNode = std::uint32_t;
constexpr GraphNode kNoNode = UINT32_MAX;
/// Of the nodes of a graph.
using Marks = LargeVector<bool>;

/// A directed graph in compressed rows: the successors of node v are targets[first[v]] up to, not
/// including, targets[first[v + 1]].
struct Graph {
  LargeVector<std::uint64_t> first{0};
  LargeVector<GraphNode> targets;

  GraphNode size() const { return static_cast<GraphNode>(first.size() - 1); }
  /// Ends the row of the next node: what was added to `targets` since the last call is its own.
  void end_row() { first.push_back(targets.size()); }
};

/// Asked now and then; true ends a computation early.
using Stop = std::function<bool()>;

/// The node before each on a shortest way from `root`; kNoNode for `root` and for what it does not
/// reach. Nothing leads through what is `avoided`. Empty where it was stopped.
XLEAK_MONITOR_API std::optional<LargeVector<GraphNode>> shortest_ways(
    const Graph& graph, GraphNode root, const std::vector<GraphNode>& avoided, const Stop& stop);

/// The nodes from the root to `node`, both included; empty where no way was found.
XLEAK_MONITOR_API std::vector<GraphNode> way_to(const LargeVector<GraphNode>& before,
                                                GraphNode root, GraphNode node);

/// What every way from the root to a node passes through. Georgiadis, Linear-time algorithms for
/// dominators (2005), the semi-NCA variant.
struct DominatorTree {
  LargeVector<GraphNode> dominator;  ///< The nearest; kNoNode for the root and the unreached.
  LargeVector<GraphNode> order;      ///< What is reached, each after its dominator.
};

/// Empty where it was stopped.
XLEAK_MONITOR_API std::optional<DominatorTree> dominators(const Graph& graph, GraphNode root,
                                                          const Stop& stop);

/// By node, what would be freed with it: the sum of `bytes` over all that it dominates. 0 for what
/// the root does not reach.
XLEAK_MONITOR_API LargeVector<std::int64_t> retained_bytes(const DominatorTree& tree,
                                                           const LargeVector<std::int64_t>& bytes);

/// The sum of `bytes` over all that `node` reaches, itself included, but not through what is
/// `avoided`. Empty where that takes more than `most` references.
XLEAK_MONITOR_API std::optional<std::int64_t> reachable_bytes(
    const Graph& graph, GraphNode node, const LargeVector<std::int64_t>& bytes, Marks avoided,
    std::size_t most);

/// By node, the number of its strongly connected component, counted from 0: nodes that reach each
/// other share one. Tarjan 1972. Empty where it was stopped.
XLEAK_MONITOR_API std::optional<LargeVector<GraphNode>> components(const Graph& graph,
                                                                   const Stop& stop);

/// A cycle of garbage that is there because of suspects.
struct GarbageCycle {
  std::vector<GraphNode> suspects;  ///< Those that are part of it.
  std::int64_t bytes = 0;           ///< What goes with it and with none before it.
};

/// The cycles among the `garbage` (by node) that would not be there without the suspects, each
/// before those that it leads to. What a cycle without a suspect leads to as well waits for the
/// collector anyway and is left out. Empty where it was stopped.
XLEAK_MONITOR_API std::optional<std::vector<GarbageCycle>> garbage_cycles(
    const Graph& graph, Marks garbage, const std::vector<GraphNode>& suspects,
    const LargeVector<std::int64_t>& bytes, const Stop& stop);

}  // namespace xleak::monitor
