#include "heap_budget.hpp"

#include <doctest/doctest.h>

#include "scripted_probes.hpp"
#include "units.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::int64_t kDearNs = 4'000'000;
struct Fixture {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  ScriptedProbes probes{script};
  HeapBudget budget{probes};

  void cell(std::int64_t resident_bytes) {
    budget.before_cell(resident_bytes);
    budget.after_cell(resident_bytes);
  }
};

struct DearFixture : Fixture {
  DearFixture() { script->heap_cost_ns = kDearNs; }
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

  TEST_CASE("a dear reading before a cell gets its other half") {
    DearFixture f;
    CHECK(f.budget.before_cell(10 * kMiB));
    CHECK(f.budget.after_cell(10 * kMiB));
  }

  TEST_CASE("a quick cell that moved nothing is unknown where the heap is dear, not unchanged") {
    DearFixture f;
    f.cell(10 * kMiB);
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
    CHECK_FALSE(f.budget.after_cell(10 * kMiB));
    CHECK(f.script->heap_reads == 2);
  }

  TEST_CASE("a dear heap is read where the resident size moved") {
    DearFixture f;
    f.cell(10 * kMiB);
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 64 * kMiB;
    CHECK(f.budget.after_cell(74 * kMiB)->used_bytes == 64 * kMiB);
  }

  TEST_CASE("a dear heap is read where the resident size is unknown") {
    DearFixture f;
    f.cell(10 * kMiB);
    f.budget.before_cell(10 * kMiB);
    CHECK(f.budget.after_cell(std::nullopt));
  }

  TEST_CASE("a dear heap is read again after a while") {
    DearFixture f;
    f.cell(10 * kMiB);
    f.cell(10 * kMiB);
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
    f.script->now_ns += 20 * kDearNs;
    CHECK(f.budget.before_cell(10 * kMiB));
    CHECK(f.budget.after_cell(10 * kMiB));
  }

  TEST_CASE("a heap that cannot be read stays unknown") {
    Fixture f;
    f.script->heap_used_bytes = Script::kUnknown;
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
    CHECK_FALSE(f.budget.after_cell(10 * kMiB));
  }
}
