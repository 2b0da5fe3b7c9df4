#include "torch/churn_ledger.hpp"

#include <doctest/doctest.h>

#include "units.hpp"

using namespace xleak::libtorch;

namespace {

std::int64_t count_of(const ChurnLedger& ledger, std::int64_t bytes) {
  for (const ChurnedBlocks& it : ledger.churned()) {
    if (it.bytes == bytes) return it.count;
  }
  return 0;
}

}  // namespace

TEST_SUITE("churn_ledger") {
  TEST_CASE("blocks are counted by their size") {
    ChurnLedger ledger;
    for (int iteration = 0; iteration < 100; ++iteration) {
      ledger.freed(2 * kMiB);
      if (iteration % 2 == 0) ledger.freed(3 * kMiB);
    }
    CHECK(count_of(ledger, 2 * kMiB) == 100);
    CHECK(count_of(ledger, 3 * kMiB) == 50);
  }

  TEST_CASE("small blocks are not") {
    ChurnLedger ledger;
    ledger.freed(kMiB - 1);
    CHECK(ledger.churned().empty());
  }

  TEST_CASE("what comes often stays, however many other sizes come") {
    ChurnLedger ledger;
    for (int iteration = 0; iteration < 200; ++iteration) {
      ledger.freed(2 * kMiB);
      ledger.freed((10 + iteration) * kMiB);
    }
    CHECK(count_of(ledger, 2 * kMiB) == 200);
  }

  TEST_CASE("a cell starts again") {
    ChurnLedger ledger;
    ledger.freed(2 * kMiB);
    ledger.clear();
    CHECK(ledger.churned().empty());
  }
}
