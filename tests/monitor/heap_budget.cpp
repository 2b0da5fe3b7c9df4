#include "heap_budget.hpp"

#include <doctest/doctest.h>

#include "scripted_probes.hpp"
#include "units.hpp"

using namespace xleak::monitor;

namespace {

struct Fixture {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  ScriptedProbes probes{script};
  HeapBudget budget{probes};

  void cell(std::int64_t resident_bytes) {
    budget.before_cell(resident_bytes);
    budget.after_cell(resident_bytes);
  }
};

struct ManyPieces : Fixture {
  ManyPieces() { script->heap_free_pieces = 100'000; }
};

}  // namespace

TEST_SUITE("heap_budget") {
  TEST_CASE("a heap of few free pieces is read each time") {
    Fixture f;
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 7;
    CHECK(f.budget.after_cell(10 * kMiB)->used_bytes == 7);
    CHECK(f.script->heap_reads == 2);
  }

  TEST_CASE("a long reading before a cell gets its other half") {
    ManyPieces f;
    CHECK(f.budget.before_cell(10 * kMiB));
    CHECK(f.budget.after_cell(10 * kMiB));
  }

  TEST_CASE("of many free pieces a cell that moved nothing is unknown, not unchanged") {
    ManyPieces f;
    f.cell(10 * kMiB);
    CHECK_FALSE(f.budget.before_cell(10 * kMiB));
    CHECK_FALSE(f.budget.after_cell(10 * kMiB));
    CHECK(f.script->heap_reads == 2);
  }

  TEST_CASE("a heap of many free pieces is read where the resident size moved") {
    ManyPieces f;
    f.cell(10 * kMiB);
    f.budget.before_cell(10 * kMiB);
    f.script->heap_used_bytes = 64 * kMiB;
    CHECK(f.budget.after_cell(74 * kMiB)->used_bytes == 64 * kMiB);
  }

  TEST_CASE("a heap of many free pieces is read where the resident size is unknown") {
    ManyPieces f;
    f.cell(10 * kMiB);
    f.budget.before_cell(10 * kMiB);
    CHECK(f.budget.after_cell(std::nullopt));
  }

  TEST_CASE("a heap of many free pieces is read again after twenty cells, however long they took") {
    ManyPieces f;
    for (int cell = 0; cell < 20; ++cell) f.cell(10 * kMiB);
    CHECK(f.script->heap_reads == 2);
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
