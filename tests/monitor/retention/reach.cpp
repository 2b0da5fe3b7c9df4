#include "xleak/monitor/reach.hpp"

#include <doctest/doctest.h>

#include "units.hpp"

using namespace xleak::monitor;

namespace {

const Stop kNever;

/// A heap whose node 0 is the root; `rows` are its references, `bytes` what each node takes.
class Heap {
 public:
  Heap(const std::vector<std::vector<GraphNode>>& rows, std::vector<std::int64_t> bytes)
      : bytes_(bytes.begin(), bytes.end()), shared_(bytes.size(), false) {
    for (const auto& row : rows) {
      graph_.targets.insert(graph_.targets.end(), row.begin(), row.end());
      graph_.end_row();
    }
    shared_[0] = true;
    tree_ = *dominators(graph_, 0, kNever);
    before_ = *shortest_ways(graph_, 0, {}, kNever);
    retained_ = retained_bytes(tree_, bytes_);
  }

  void share(GraphNode node) { shared_[node] = true; }

  std::vector<Holding> ask(const std::vector<GraphNode>& pieces, GraphNode last = kNoNode) const {
    return holdings({tree_, before_, retained_, shared_}, pieces, last);
  }

 private:
  Graph graph_;
  LargeVector<std::int64_t> bytes_;
  Marks shared_;
  DominatorTree tree_;
  LargeVector<GraphNode> before_;
  LargeVector<std::int64_t> retained_;
};

}  // namespace

TEST_SUITE("what keeps memory that no name leads to") {
  TEST_CASE("it is the last object on the way down that keeps nearly all of it") {
    // A loop, its list of timers, three timers with an array each.
    const Heap heap({{1}, {2}, {3, 4, 5}, {6}, {7}, {8}, {}, {}, {}},
                    {0, 100, 100, 50, 50, 50, kMiB, kMiB, kMiB});
    const auto found = heap.ask({6, 7, 8});
    REQUIRE(found.size() == 1);
    CHECK(found[0].holder == 2);
    CHECK(found[0].bytes == 3 * kMiB + 250);
    CHECK(found[0].pieces == std::vector<GraphNode>{6, 7, 8});
  }

  TEST_CASE("a single piece is its own holder, but where the way down is to end before") {
    const Heap heap({{1}, {2}, {3}, {}}, {0, 100, 100, kMiB});
    CHECK(heap.ask({3})[0].holder == 3);
    CHECK(heap.ask({3}, 2)[0].holder == 2);
  }

  TEST_CASE("a module keeps nothing: what stands in it does") {
    Heap heap({{1}, {2, 3}, {4}, {5}, {}, {}}, {0, 0, 10, 10, kMiB, 2 * kMiB});
    heap.share(1);
    const auto found = heap.ask({4, 5});
    REQUIRE(found.size() == 2);
    CHECK(found[0].holder == 5);
    CHECK(found[1].holder == 4);
  }

  TEST_CASE("objects of one container that something else leads to as well have the container") {
    // Widgets 3 and 4 stand in the registry 1, and a manager 2 has them too.
    const Heap heap({{1, 2}, {3, 4}, {3, 4}, {5}, {6}, {}, {}}, {0, 10, 10, 10, 10, kMiB, kMiB});
    const auto found = heap.ask({5, 6});
    REQUIRE(found.size() == 1);
    CHECK(found[0].holder == 1);
    CHECK(found[0].bytes == 2 * kMiB + 20);
  }

  TEST_CASE("what the root does not reach is left out") {
    const Heap heap({{1}, {}, {}}, {0, kMiB, kMiB});
    CHECK(heap.ask({2}).empty());
  }
}
