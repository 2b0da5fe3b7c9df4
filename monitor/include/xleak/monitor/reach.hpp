#pragma once
#include <cstdint>
#include <vector>

#include "xleak/monitor/export.hpp"
#include "xleak/monitor/graph.hpp"

namespace xleak::monitor {

/// Pieces of memory under what keeps them.
struct Holding {
  GraphNode holder = kNoNode;
  std::int64_t bytes = 0;         ///< What would be freed if the holder let go of it.
  std::vector<GraphNode> pieces;  ///< Those of the question, in their order.
};

/// A heap and who keeps what in it, as the functions of graph.hpp found it.
struct RetentionGraph {
  const DominatorTree& tree;
  const LargeVector<GraphNode>& before;       ///< The node before each on a shortest way.
  const LargeVector<std::int64_t>& retained;  ///< By node.
  const Marks& shared;                        ///< Roots, modules, namespaces: they keep everything.
};

/// What keeps each of the pieces, those with one holder together, most bytes first. The holder is
/// the last node on the way down to them that retains nearly all of it: an accumulation point, as
/// the Eclipse Memory Analyzer calls it. Where several objects stand in one container, and no other
/// reference leads to all of them, it is the container. Pieces that the root does not reach are
/// left out. The way down ends at `last`, if it leads there.
XLEAK_MONITOR_API std::vector<Holding> holdings(const RetentionGraph& heap,
                                                const std::vector<GraphNode>& pieces,
                                                GraphNode last = kNoNode);

}  // namespace xleak::monitor
