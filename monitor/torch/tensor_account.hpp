#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "block_table.hpp"
#include "churn_ledger.hpp"
#include "growth_ledger.hpp"
#include "spin_lock.hpp"

namespace xleak::libtorch {

/// What tensors did to the host's memory in one cell or scope.
struct CellUse {
  std::int64_t kept_bytes = 0;       ///< Live at its end less live at its start.
  std::int64_t peak_bytes = 0;       ///< The most that was live at once during it.
  std::int64_t allocated_bytes = 0;  ///< All that was added during it, also what was removed.
};

/// Every live block, their sum, and its peak per cell and per scope. Safe to use from every thread,
/// and in a child forked while another thread used it.
class TensorAccount {
 public:
  /// The one of this process; lives until the process ends, since tensors are freed until then.
  static TensorAccount& instance();

  TensorAccount() = default;
  TensorAccount(const TensorAccount&) = delete;
  TensorAccount& operator=(const TensorAccount&) = delete;

  /// Counts a block as one of the running cell. One that there is no memory to note stays
  /// uncounted.
  void add(std::uintptr_t address, std::int64_t bytes) noexcept;
  /// The same, as one of another cell.
  void add(const Block& block) noexcept;
  /// Before the block is freed: from then on another may have the address.
  void remove(std::uintptr_t address) noexcept;

  std::int64_t live_bytes() const noexcept;
  std::optional<Block> find(std::uintptr_t address) const noexcept;
  std::vector<Block> at_least(std::int64_t min_bytes) const;

  /// A cell may begin within another.
  void begin_cell(int index);
  /// Ends the cell, and those begun within it that never ended; empty for one that is not running.
  std::optional<CellUse> end_cell(int index) noexcept;

  /// Starts to count for a stretch of a program, beside the cells: no block becomes one of it.
  /// Scopes nest and overlap as they like.
  int begin_scope();
  /// Since it began; empty for one that has ended.
  std::optional<CellUse> scope_use(int number) const noexcept;
  /// Bytes that were freed since it began, of blocks from before; 0 for one that has ended.
  std::int64_t older_freed_bytes(int number) const noexcept;
  void end_scope(int scope) noexcept;

  /// The blocks that grew by copies since the last cell began that is in no other, up to its end.
  std::vector<GrownBlock> grown() const;
  /// The large blocks that it made and freed again.
  std::vector<ChurnedBlocks> churned() const;

  /// Around a fork, so that the child has no lock that nobody in it will open.
  void lock() const noexcept { lock_.lock(); }
  void unlock() const noexcept { lock_.unlock(); }

 private:
  struct Mark {
    int cell;
    std::int64_t live_bytes;
    std::int64_t outer_peak_bytes;
    std::int64_t allocated_bytes;
  };

  struct Scope {
    int number;
    std::int64_t live_bytes;
    std::int64_t peak_bytes;
    std::int64_t allocated_bytes;
    std::int64_t older_freed_bytes;
  };

  bool note(const Block& block) noexcept;
  const Scope* scope(int number) const noexcept;

  // One lock for all of it: what it guards takes less time than a second lock would.
  mutable SpinLock lock_;
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t allocated_bytes_ = 0;
  int cell_ = 0;
  BlockTable blocks_;
  GrowthLedger growth_;
  ChurnLedger churn_;
  std::vector<Mark> running_;
  int last_scope_ = 0;
  std::vector<Scope> scopes_;
};

}  // namespace xleak::libtorch
