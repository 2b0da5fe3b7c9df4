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
          "state was carried through 12 forward passes: its autograd graph keeps 30 MiB of their "
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

  TEST_CASE("only the terms of a number have an item()") {
    const auto of = [](const char* kind) {
      const auto findings = detect("XL203", graph(kind, "total", kMiB, 10));
      return findings.empty() ? std::string() : findings[0].message;
    };
    CHECK(of("sums").find(".item()") != std::string::npos);
    CHECK(of("sums of tensors").find(".item()") == std::string::npos);
    CHECK(of("sums of tensors").find(".detach()") != std::string::npos);
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

  TEST_CASE("the message of a view says what it shows, what it keeps and what copies it") {
    const Holder one{"view",
                     "row",
                     64 * kMiB,
                     2,
                     "the storage of the tensor that it was cut from",
                     1,
                     "row = row.clone()",
                     4096};
    CHECK(detect("XL118", one)[0].message ==
          "`row` shows 4 KiB and keeps 64 MiB alive: the storage of the tensor that it was cut "
          "from, which no name reaches. Keep a copy: `row = row.clone()`.");
    const Holder many{"views",
                      "corners",
                      3 * kMiB,
                      2,
                      "the storages of the tensors that they were cut from",
                      7,
                      "corners[:] = [v.clone() for v in corners]",
                      14 << 10};
    CHECK(detect("XL118", many)[0].message ==
          "7 views in `corners` show 14 KiB and keep 3 MiB alive: the storages of the tensors that "
          "they were cut from, which no name reaches. Keep copies: "
          "`corners[:] = [v.clone() for v in corners]`.");
  }

  TEST_CASE("code that is too long for the message is in the fix alone") {
    Holder one{"view", "row", 64 * kMiB, 2, "a storage", 1, std::string(101, 'x'), 4096};
    const auto findings = detect("XL118", one);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("no name reaches. Keep a copy.") != std::string::npos);
    CHECK(findings[0].fixes[0].code == one.release);
  }

  TEST_CASE(
      "a single view is a note from 1 MiB and a warning from 16 MiB, several warn from 1 MiB") {
    const auto severity = [](const char* kind, std::int64_t bytes, int count) {
      const auto findings = detect("XL118", Holder{kind, "row", bytes, 2, "", count, "", 8});
      return findings.empty() ? std::nullopt : findings[0].severity;
    };
    CHECK(detect("XL118", Holder{"view", "row", kMiB - 1, 2, "", 1, "", 8}).empty());
    CHECK(severity("view", kMiB, 1) == Severity::note);
    CHECK(severity("view", 16 * kMiB - 1, 1) == Severity::note);
    CHECK(severity("view", 16 * kMiB, 1) == Severity::warning);
    // None of its own: the rule's, which is a warning.
    REQUIRE(detect("XL118", Holder{"views", "rows", kMiB, 2, "", 2, "", 8}).size() == 1);
    CHECK(severity("views", kMiB, 2) == std::nullopt);
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
