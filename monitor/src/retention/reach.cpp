#include "xleak/monitor/reach.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace xleak::monitor {
namespace {

// A child that retains less of its parent's bytes is one part of several.
constexpr std::int64_t kNearlyAllPercent = 90;

/// The outermost node that alone retains a piece.
GraphNode top_of(const RetentionGraph& heap, GraphNode piece) {
  GraphNode node = piece;
  for (GraphNode next = heap.tree.dominator[node]; next != kNoNode && !heap.shared[next];
       next = heap.tree.dominator[node])
    node = next;
  return node;
}

bool retains_nearly_all(const RetentionGraph& heap, GraphNode child, GraphNode parent) {
  return heap.retained[child] * 100 >= heap.retained[parent] * kNearlyAllPercent;
}

/// Down from `top` towards the pieces, for as long as one child has nearly all of it.
GraphNode accumulation_point(const RetentionGraph& heap, GraphNode top,
                             const std::vector<GraphNode>& pieces, GraphNode last) {
  std::unordered_map<GraphNode, GraphNode> largest_child;
  for (const GraphNode piece : pieces) {
    for (GraphNode node = piece; node != top; node = heap.tree.dominator[node]) {
      GraphNode& largest = largest_child.emplace(heap.tree.dominator[node], node).first->second;
      if (heap.retained[node] > heap.retained[largest]) largest = node;
    }
  }
  GraphNode holder = top;
  for (auto child = largest_child.find(holder); holder != last && child != largest_child.end() &&
                                                retains_nearly_all(heap, child->second, holder);
       child = largest_child.find(holder))
    holder = child->second;
  return holder;
}

}  // namespace

std::vector<Holding> holdings(const RetentionGraph& heap, const std::vector<GraphNode>& pieces,
                              GraphNode last) {
  std::map<GraphNode, std::vector<GraphNode>> by_top;
  for (const GraphNode piece : pieces) {
    if (heap.before[piece] != kNoNode) by_top[top_of(heap, piece)].push_back(piece);
  }
  std::map<GraphNode, std::vector<GraphNode>> tops_in;  // By container.
  for (const auto& [top, its] : by_top) tops_in[heap.before[top]].push_back(top);
  std::vector<Holding> found;
  for (const auto& [container, tops] : tops_in) {
    if (tops.size() > 1 && !heap.shared[container]) {
      Holding all{container, 0, {}};
      for (const GraphNode top : tops) {
        all.bytes += heap.retained[top];
        const auto& its = by_top[top];
        all.pieces.insert(all.pieces.end(), its.begin(), its.end());
      }
      std::sort(all.pieces.begin(), all.pieces.end());
      found.push_back(std::move(all));
      continue;
    }
    for (const GraphNode top : tops) {
      const GraphNode holder = accumulation_point(heap, top, by_top[top], last);
      found.push_back({holder, heap.retained[holder], by_top[top]});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Holding& a, const Holding& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace xleak::monitor
