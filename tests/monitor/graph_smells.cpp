#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder graph(const char* kind, const char* label, std::int64_t bytes, int passes) {
  return {kind, label, bytes, 4, "autograd graph", passes, std::string(label) + ".detach_()"};
}

}  // namespace

TEST_SUITE("graph_smells") {
  TEST_CASE("a state is told with its cell, its bytes, its passes and what to type") {
    const auto findings = detect("XL208", graph("carried states", "state", 30 * kMiB, 12));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cell == 6);
    CHECK(findings[0].cause_cell == 4);
    CHECK(findings[0].bytes == 30 * kMiB);
    CHECK(findings[0].holders == std::vector<std::string>{"state"});
    CHECK(findings[0].message ==
          "state was led on through 12 forward passes: its autograd graph keeps 30 MiB of their "
          "activations alive. Cut it between two batches, as `state.detach_()` does.");
    CHECK(findings[0].fixes[0].code == "state.detach_()");
  }

  TEST_CASE("what others keep too is said") {
    Holder sum = graph("sums", "total", 5 * kMiB, 20);
    sum.largest = "autograd graph (shared with mean)";
    const auto findings = detect("XL203", sum);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("its autograd graph (shared with mean) keeps 5 MiB") !=
          std::string::npos);
  }

  TEST_CASE("graphs are told by why they are there") {
    const struct {
      const char* kind;
      const char* code;
    } rules[] = {{"sums", "XL203"},
                 {"retained graphs", "XL206"},
                 {"statistics", "XL207"},
                 {"carried states", "XL208"}};
    for (const auto& rule : rules) {
      for (const auto& other : rules) {
        const auto findings = detect(other.code, graph(rule.kind, "it", kMiB, 10));
        CHECK(findings.size() == (rule.kind == other.kind ? 1 : 0));
      }
    }
  }

  TEST_CASE("below 1 MiB a graph is not worth a word") {
    CHECK(detect("XL203", graph("sums", "total", kMiB - 1, 50)).empty());
    CHECK(detect("XL208", graph("carried states", "state", kMiB - 1, 50)).empty());
  }

  TEST_CASE("a statistic of one forward pass is one forward pass") {
    const auto findings = detect("XL207", graph("statistics", "norm.centre", 2 * kMiB, 1));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("of 1 forward pass alive") != std::string::npos);
  }

  TEST_CASE("one view is told by itself, several by their container") {
    const Holder one{"views", "head", 3 * kMiB, 2, "arrays", 1, "head = head.copy()"};
    CHECK(detect("XL118", one)[0].message.find("head is a view that keeps 3 MiB alive") == 0);
    CHECK(detect("XL118", one)[0].message.find("`view.copy()`") != std::string::npos);
    const Holder many{"views", "corners", 3 * kMiB, 2, "tensors", 7, "corners.clear()"};
    CHECK(detect("XL118", many)[0].message.find("7 views in corners keep 3 MiB alive") == 0);
    CHECK(detect("XL118", many)[0].message.find("`view.clone()`") != std::string::npos);
  }

  TEST_CASE("a deleted tensor is told with what holds it") {
    const Holder probs{"deleted",
                       "score",
                       4 * kMiB,
                       6,
                       "probs, held by SoftmaxBackward0 of score",
                       1,
                       "score = score.detach()"};
    const auto findings = detect("XL108", probs);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 6);
    CHECK(findings[0].message ==
          "4 MiB are still alive after their name was deleted: probs, held by SoftmaxBackward0 of "
          "score. Detach what was made of it, or take its `.item()`.");
  }
}
