#include "churn_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace xleak::libtorch {

void ChurnLedger::count(std::int64_t bytes) noexcept {
  auto row = std::find_if(rows_.begin(), rows_.end(),
                          [&](const ChurnedBlocks& it) { return it.bytes == bytes; });
  if (row == rows_.end()) {
    row = std::min_element(
        rows_.begin(), rows_.end(),
        [](const ChurnedBlocks& a, const ChurnedBlocks& b) { return a.count < b.count; });
    *row = {bytes, 0};
  }
  ++row->count;
}

std::vector<ChurnedBlocks> ChurnLedger::churned() const {
  std::vector<ChurnedBlocks> found;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(found),
               [](const ChurnedBlocks& it) { return it.count > 0; });
  return found;
}

}  // namespace xleak::libtorch
