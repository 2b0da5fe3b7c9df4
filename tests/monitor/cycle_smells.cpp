#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder cycle(const char* kind, std::int64_t bytes) {
  return {kind, "Tree: garbage in a cycle", bytes, 4, "Tree.leaves[0].parent",
          3,    "import gc; gc.collect();"};
}

}  // namespace

TEST_SUITE("cycle_smells") {
  TEST_CASE("a cycle of objects is told with its way back and how many there are") {
    const auto findings = detect("XL106", cycle("cycle of objects", 9 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 4);
    CHECK(findings[0].path ==
          std::vector<std::string>{"Tree: garbage in a cycle", "Tree.leaves[0].parent"});
    CHECK(findings[0].message.find("9 MiB that no name reaches wait for the garbage collector: "
                                   "Tree.leaves[0].parent is the object that it starts from, a "
                                   "reference cycle (3 in all). ") == 0);
    CHECK(findings[0].fixes[0].code == "import gc; gc.collect();");
  }

  TEST_CASE("what closes a cycle says whose smell it is") {
    CHECK(detect("XL113", cycle("cycle of objects", 9 * kMiB)).empty());
    CHECK(detect("XL106", cycle("cycle of a callback", 9 * kMiB)).empty());
    CHECK(detect("XL113", cycle("cycle of a callback", 9 * kMiB)).size() == 1);
  }

  TEST_CASE("garbage that the collector will take is a note") {
    for (const auto& [code, kind] :
         {std::pair{"XL106", "cycle of objects"}, std::pair{"XL113", "cycle of a callback"}}) {
      const std::string waits = std::string(kind) + ", to be collected";
      CHECK(detect(code, cycle(kind, 9 * kMiB)).at(0).severity != Severity::note);
      CHECK(detect(code, cycle(waits.c_str(), 9 * kMiB)).at(0).severity == Severity::note);
    }
  }

  TEST_CASE("contexts behind several results are a warning, behind one a note") {
    const auto of = [](int count) {
      return detect(
          "XL210",
          {"context of results", "curve", 8 * kMiB, {}, "Softsign.x", count, "curve.clear()"});
    };
    REQUIRE(of(3).size() == 1);
    CHECK_FALSE(of(3)[0].severity);
    CHECK(of(1)[0].severity == Severity::note);
    CHECK(of(3)[0].message.find("curve keeps 8 MiB alive by Softsign.x of its graph") == 0);
    CHECK(detect("XL210", cycle("cycle of a context", 9 * kMiB)).size() == 1);
  }

  TEST_CASE("a hook is told with what it fills and how both are let go") {
    const auto findings =
        detect("XL107", {"hooks that fill", "net._forward_hooks", 8 * kMiB, 2, "acts", 1,
                         "acts.clear(); net._forward_hooks.pop(0, None);"});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 2);
    CHECK(findings[0].message.find("A hook in net._forward_hooks fills acts, which keeps 8 MiB "
                                   "alive, and no handle is left to remove it.") == 0);
  }

  TEST_CASE("hooks of several runs are told whatever they keep, without bytes where it is little") {
    const auto of = [](std::int64_t bytes, int count) {
      return detect("XL107", {"repeated hooks", "net._forward_hooks", bytes, 3, "", count, "pop"});
    };
    REQUIRE(of(600, 2).size() == 1);
    CHECK_FALSE(of(600, 2)[0].bytes);
    CHECK(of(2 * kMiB, 2)[0].bytes == 2 * kMiB);
    CHECK(of(600, 1).empty());
  }

  TEST_CASE("a function that keeps what it captured is a note, several in one place a warning") {
    const auto of = [](const char* kind, int count) {
      return detect("XL407", {kind, "rankers", 5 * kMiB, 2, "Tensor", count, "del rankers[0]"});
    };
    const auto one = of("captures", 1);
    REQUIRE(one.size() == 1);
    CHECK_FALSE(one[0].severity);
    CHECK(one[0].fixes[0].code == "del rankers[0]");
    const auto several = of("unused captures", 3);
    CHECK(several[0].severity == Severity::warning);
    CHECK(several[0].message.find("3 functions in rankers keep 5 MiB alive") == 0);
  }

  TEST_CASE("gradients with a graph are told by their model, orphaned ones by what frees them") {
    const auto owned = detect("XL205", {"gradients with a graph", "net", 7 * kMiB, 3, "4 gradients",
                                        4, "net.zero_grad(set_to_none=True)"});
    REQUIRE(owned.size() == 1);
    CHECK(owned[0].key == "net");
    CHECK(owned[0].message.find("4 gradients of net kept by `backward(create_graph=True)` with "
                                "7 MiB of graph. Let go of them with "
                                "`net.zero_grad(set_to_none=True)`") == 0);
    const auto orphaned = detect("XL205", {"orphaned gradients",
                                           "Parameters that no name reaches",
                                           7 * kMiB,
                                           {},
                                           "4 gradients",
                                           4,
                                           "%release_cache --gradients"});
    REQUIRE(orphaned.size() == 1);
    CHECK(orphaned[0].fixes[0].code == "%release_cache --gradients");
  }

  TEST_CASE("less than a mebibyte may wait") {
    CHECK(detect("XL106", cycle("cycle of objects", kMiB - 1)).empty());
    CHECK(detect("XL113", cycle("cycle of a callback", kMiB - 1)).empty());
  }
}
