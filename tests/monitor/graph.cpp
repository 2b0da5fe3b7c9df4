#include "xleak/monitor/graph.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace xleak::monitor;

namespace {

const Stop kNever;

Graph graph_of(const std::vector<std::vector<GraphNode>>& rows) {
  Graph graph;
  for (const auto& row : rows) {
    graph.targets.insert(graph.targets.end(), row.begin(), row.end());
    graph.end_row();
  }
  return graph;
}

std::vector<GraphNode> dominators_of(const Graph& graph) {
  const auto tree = *dominators(graph, 0, kNever);
  return {tree.dominator.begin(), tree.dominator.end()};
}

/// What the root reaches where `removed` is not there, by the definition of a dominator.
Marks reached_without(const Graph& graph, GraphNode removed) {
  Marks reached(graph.size(), false);
  if (removed == 0) return reached;
  std::vector<GraphNode> pending{0};
  reached[0] = true;
  while (!pending.empty()) {
    const GraphNode at = pending.back();
    pending.pop_back();
    for (auto edge = graph.first[at]; edge < graph.first[at + 1]; ++edge) {
      const GraphNode next = graph.targets[edge];
      if (next == removed || reached[next]) continue;
      reached[next] = true;
      pending.push_back(next);
    }
  }
  return reached;
}

Graph random_graph(std::mt19937& random) {
  const GraphNode size = 1 + random() % 30;
  std::vector<std::vector<GraphNode>> rows(size);
  for (auto edges = random() % (3 * size); edges > 0; --edges)
    rows[random() % size].push_back(random() % size);
  return graph_of(rows);
}

constexpr GraphNode kNone = kNoNode;

}  // namespace

TEST_SUITE("graph") {
  TEST_CASE("a shortest way leads along the fewest references") {
    const Graph graph = graph_of({{1, 2}, {3}, {4}, {5}, {5}, {}});
    const auto before = *shortest_ways(graph, 0, {}, kNever);
    CHECK(way_to(before, 0, 5).size() == 4);
    CHECK(way_to(before, 0, 4) == std::vector<GraphNode>{0, 2, 4});
    CHECK(way_to(before, 0, 0) == std::vector<GraphNode>{0});
  }

  TEST_CASE("a way goes round what is avoided") {
    const Graph graph = graph_of({{1, 2}, {4}, {3}, {4}, {}});
    CHECK(way_to(*shortest_ways(graph, 0, {}, kNever), 0, 4).size() == 3);
    CHECK(way_to(*shortest_ways(graph, 0, {1}, kNever), 0, 4) ==
          std::vector<GraphNode>{0, 2, 3, 4});
  }

  TEST_CASE("there is no way to what the root does not reach") {
    const Graph graph = graph_of({{}, {0}});
    CHECK(way_to(*shortest_ways(graph, 0, {}, kNever), 0, 1).empty());
  }

  TEST_CASE("who holds alone dominates, who shares does not") {
    // 1 holds 3 alone; 2 and 1 share 4; 5 hangs on 4; 6 is garbage.
    const Graph graph = graph_of({{1, 2}, {3, 4}, {4}, {}, {5}, {}, {6, 5}});
    CHECK(dominators_of(graph) == std::vector<GraphNode>{kNone, 0, 0, 1, 0, 4, kNone});
  }

  TEST_CASE("the dominators of a graph that no order of visits gets right at once") {
    // Lengauer and Tarjan 1979, figure 1: R A B C D E F G H I J K L.
    const Graph graph = graph_of({{1, 2, 3},
                                  {4},
                                  {1, 4, 5},
                                  {6, 7},
                                  {12},
                                  {8},
                                  {9},
                                  {9, 10},
                                  {5, 11},
                                  {11},
                                  {9},
                                  {9, 0},
                                  {8}});
    CHECK(dominators_of(graph) ==
          std::vector<GraphNode>{kNone, 0, 0, 0, 0, 0, 3, 3, 0, 0, 7, 0, 4});
  }

  TEST_CASE("random graphs have the dominators of the definition") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
      const Graph graph = random_graph(random);
      const auto dominator = dominators_of(graph);
      const auto reached = reached_without(graph, kNone);
      for (GraphNode removed = 1; removed < graph.size(); ++removed) {
        const auto left = reached_without(graph, removed);
        for (GraphNode node = 1; node < graph.size(); ++node) {
          if (!reached[node] || !reached[removed]) continue;
          bool dominated = false;
          for (GraphNode at = node; at != kNone; at = dominator[at]) dominated |= at == removed;
          REQUIRE(dominated == !left[node]);
        }
      }
    }
  }

  TEST_CASE("retained bytes are those that go with a node") {
    const Graph graph = graph_of({{1, 2}, {3, 4}, {4}, {}, {5}, {}, {5}});
    const auto tree = *dominators(graph, 0, kNever);
    CHECK(retained_bytes(tree, {0, 1, 2, 30, 400, 5000, 60000}) ==
          LargeVector<std::int64_t>{5433, 31, 2, 30, 5400, 5000, 0});
  }

  TEST_CASE("reachable bytes count what is shared too, once") {
    const Graph graph = graph_of({{1, 2}, {3, 4}, {4}, {4, 1}, {}});
    CHECK(*reachable_bytes(graph, 1, {0, 1, 2, 30, 400}, Marks(5), 10) == 431);
    CHECK(*reachable_bytes(graph, 1, {0, 1, 2, 30, 400}, {false, false, false, true, false}, 10) ==
          401);
  }

  TEST_CASE("reachable bytes behind more references than asked for are unknown") {
    const Graph graph = graph_of({{1}, {2}, {3}, {}});
    CHECK(*reachable_bytes(graph, 0, {1, 1, 1, 1}, Marks(4), 3) == 4);
    CHECK_FALSE(reachable_bytes(graph, 0, {1, 1, 1, 1}, Marks(4), 2));
  }

  TEST_CASE("nodes that reach each other are one component") {
    const auto component = *components(graph_of({{1}, {2}, {0, 3}, {4}, {3}, {5}}), kNever);
    CHECK(component[0] == component[1]);
    CHECK(component[1] == component[2]);
    CHECK(component[3] == component[4]);
    CHECK(component[0] != component[3]);
    CHECK(component[5] != component[3]);
  }

  TEST_CASE("a cycle of garbage is told by its suspect, with all that goes with it") {
    const Graph graph = graph_of({{}, {2}, {3}, {1, 4}, {}, {5}});
    const Marks garbage{false, true, true, true, true, true};
    const auto cycles = *garbage_cycles(graph, garbage, {2}, {7, 1, 20, 300, 4000, 9}, kNever);
    REQUIRE(cycles.size() == 1);
    CHECK(cycles[0].suspects == std::vector<GraphNode>{2});
    CHECK(cycles[0].bytes == 4321);
  }

  TEST_CASE("what lives or is in no cycle is no cycle of garbage") {
    const Graph graph = graph_of({{1}, {0}, {3}, {}});
    CHECK(garbage_cycles(graph, {false, false, true, true}, {1, 2}, {1, 1, 1, 1}, kNever)->empty());
  }

  TEST_CASE("what a cycle without a suspect leads to waits anyway") {
    // A suspect in a cycle of others, and behind it a cycle of its own.
    const Graph graph = graph_of({{1}, {0, 2}, {0, 3}, {2}});
    const Marks garbage(4, true);
    CHECK(garbage_cycles(graph, garbage, {2}, {1, 1, 1, 1}, kNever)->empty());
    CHECK(garbage_cycles(graph, garbage, {1, 2}, {1, 1, 1, 1}, kNever)->size() == 1);
  }

  TEST_CASE("a cycle that another leads to is counted with the other one") {
    const Graph graph = graph_of({{1}, {0, 2}, {3}, {2}});
    const auto cycles = *garbage_cycles(graph, Marks(4, true), {0, 2}, {1, 20, 300, 4000}, kNever);
    REQUIRE(cycles.size() == 2);
    CHECK(cycles[0].suspects == std::vector<GraphNode>{0});
    CHECK(cycles[0].bytes == 4321);
    CHECK(cycles[1].bytes == 0);
  }

  TEST_CASE("a long chain needs no deep stack") {
    constexpr GraphNode kLength = 1'000'000;
    Graph chain;
    for (GraphNode node = 0; node < kLength; ++node) {
      if (node + 1 < kLength) chain.targets.push_back(node + 1);
      chain.end_row();
    }
    CHECK(dominators_of(chain).back() == kLength - 2);
    CHECK(components(chain, kNever)->front() == kLength - 1);
    CHECK(way_to(*shortest_ways(chain, 0, {}, kNever), 0, kLength - 1).size() == kLength);
  }

  TEST_CASE("every computation can be stopped") {
    Graph chain;
    for (GraphNode node = 0; node < 100'000; ++node) {
      chain.targets.push_back(node + 1 < 100'000 ? node + 1 : 0);
      chain.end_row();
    }
    const Stop at_once = [] { return true; };
    CHECK_FALSE(shortest_ways(chain, 0, {}, at_once));
    CHECK_FALSE(dominators(chain, 0, at_once));
    CHECK_FALSE(components(chain, at_once));
    CHECK_FALSE(garbage_cycles(chain, Marks(100'000, true), {0}, LargeVector<std::int64_t>(100'000),
                               at_once));
  }
}
