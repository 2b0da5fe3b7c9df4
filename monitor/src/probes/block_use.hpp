#pragma once
#include <cstdint>
#include <optional>

#include "xleak/monitor/cell_record.hpp"

namespace xleak::monitor {

/// What one cell does by the ledger of large blocks. Cells come one after another.
class CellBlocks {
 public:
  /// Births belong to this cell from here on; 0: to none.
  void begin(int cell) noexcept;
  /// Empty where the ledger is off, was installed within the cell, or memory is short. A cell
  /// without births costs no walk.
  std::optional<BlockUse> read() noexcept;

 private:
  int cell_ = 0;
  bool is_known_ = false;
  std::int64_t alive_before_bytes_ = 0;
  std::uint32_t order_before_ = 0;
};

}  // namespace xleak::monitor
