#include "heap_budget.hpp"

#include <doctest/doctest.h>

#include "scripted_probes.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::int64_t kDearNs = 4'000'000;
constexpr std::int64_t kMiB = 1 << 20;

struct Fixture {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  ScriptedProbes probes{script};
  HeapBudget budget{probes};
};

}  // namespace

TEST_SUITE("heap_budget") {
  TEST_CASE("a cheap heap is read each time") {
    Fixture f;
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 7;
    CHECK(f.budget.after_cell(10 * kMiB)->used_bytes == 7);
    CHECK(f.script->heap_reads == 2);
  }

  TEST_CASE("a dear heap is unknown after a cell that moved nothing, not called unchanged") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    CHECK(f.budget.before_cell(10 * kMiB));
    CHECK_FALSE(f.budget.after_cell(10 * kMiB));
    CHECK(f.script->heap_reads == 1);
  }

  TEST_CASE("a dear heap is read where the resident size moved") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 64 * kMiB;
    CHECK(f.budget.after_cell(74 * kMiB)->used_bytes == 64 * kMiB);
  }

  TEST_CASE("a dear heap is read where the resident size is unknown") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    f.budget.before_cell(10 * kMiB);
    CHECK(f.budget.after_cell(std::nullopt));
  }

  TEST_CASE("a dear heap is read again after a while") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    f.budget.before_cell(10 * kMiB);
    f.script->now_ns += 20 * kDearNs;
    CHECK(f.budget.after_cell(10 * kMiB));
  }

  TEST_CASE("what a dear reading showed after a cell holds before the next one") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 64 * kMiB;
    f.budget.after_cell(74 * kMiB);
    CHECK(f.budget.before_cell(74 * kMiB)->used_bytes == 64 * kMiB);
    CHECK(f.script->heap_reads == 2);
  }

  TEST_CASE("a reading from before an unread cell does not hold after it") {
    Fixture f;
    f.script->heap_cost_ns = kDearNs;
    f.budget.before_cell(10 * kMiB);
    f.budget.after_cell(10 * kMiB);
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
  }

  TEST_CASE("a heap that cannot be read stays unknown") {
    Fixture f;
    f.script->heap_used_bytes = Script::kUnknown;
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
    CHECK_FALSE(f.budget.after_cell(10 * kMiB));
  }
}
