#include <algorithm>

#include "stop_watch.hpp"

namespace xleak::monitor {
namespace {

struct Visit {
  GraphNode node;
  std::uint64_t next_edge;
};

class Search {
 public:
  Search(const Graph& graph, const Stop& stop)
      : graph_(graph),
        watch_(stop),
        component_(graph.size(), kNoNode),
        number_(graph.size(), kNoNode),
        lowest_(graph.size()) {}

  std::optional<LargeVector<GraphNode>> run() {
    for (GraphNode node = 0; node < graph_.size(); ++node) {
      if (number_[node] == kNoNode && !search_from(node)) return std::nullopt;
    }
    return std::move(component_);
  }

 private:
  bool search_from(GraphNode start) {
    enter(start);
    while (!visits_.empty()) {
      if (watch_.step()) return false;
      Visit& visit = visits_.back();
      if (visit.next_edge == graph_.first[visit.node + 1]) {
        leave();
        continue;
      }
      const GraphNode next = graph_.targets[visit.next_edge++];
      if (number_[next] == kNoNode) {
        enter(next);
      } else if (component_[next] == kNoNode) {
        lowest_[visit.node] = std::min(lowest_[visit.node], number_[next]);
      }
    }
    return true;
  }

  void enter(GraphNode node) {
    number_[node] = lowest_[node] = next_number_++;
    open_.push_back(node);
    visits_.push_back({node, graph_.first[node]});
  }

  void leave() {
    const GraphNode node = visits_.back().node;
    visits_.pop_back();
    if (!visits_.empty()) {
      GraphNode& lowest = lowest_[visits_.back().node];
      lowest = std::min(lowest, lowest_[node]);
    }
    if (lowest_[node] != number_[node]) return;
    for (GraphNode member = kNoNode; member != node; open_.pop_back()) {
      member = open_.back();
      component_[member] = next_component_;
    }
    ++next_component_;
  }

  const Graph& graph_;
  StopWatch watch_;
  LargeVector<GraphNode> component_;
  LargeVector<GraphNode> number_;
  LargeVector<GraphNode> lowest_;
  LargeVector<GraphNode> open_;
  LargeVector<Visit> visits_;
  GraphNode next_number_ = 0;
  GraphNode next_component_ = 0;
};

}  // namespace

std::optional<LargeVector<GraphNode>> components(const Graph& graph, const Stop& stop) {
  return Search(graph, stop).run();
}

}  // namespace xleak::monitor
