#include "tensor_account.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

namespace xleak::libtorch {
namespace {

void lock_before_fork() { TensorAccount::instance().lock(); }
void unlock_after_fork() { TensorAccount::instance().unlock(); }

TensorAccount* make() {
  TensorAccount* account = std::make_unique<TensorAccount>().release();
  ::pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
  return account;
}

}  // namespace

TensorAccount& TensorAccount::instance() {
  static TensorAccount* const account = make();
  return *account;
}

bool TensorAccount::note(const Block& block) noexcept {
  try {
    blocks_.add(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  allocated_bytes_ += block.bytes;
  live_bytes_ += block.bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  for (Scope& scope : scopes_) scope.peak_bytes = std::max(scope.peak_bytes, live_bytes_);
  return true;
}

void TensorAccount::add(std::uintptr_t address, std::int64_t bytes) noexcept {
  const std::lock_guard guard(lock_);
  const Block block{address, bytes, cell_, last_scope_};
  if (note(block) && cell_ != 0) growth_.made(block);
}

void TensorAccount::add(const Block& block) noexcept {
  const std::lock_guard guard(lock_);
  note(block);
}

void TensorAccount::remove(std::uintptr_t address) noexcept {
  const std::lock_guard guard(lock_);
  const auto block = blocks_.take(address);
  if (!block) return;
  live_bytes_ -= block->bytes;
  for (Scope& scope : scopes_) {
    if (block->scope < scope.number) scope.older_freed_bytes += block->bytes;
  }
  growth_.freed(*block);
  if (cell_ != 0 && block->cell == cell_) churn_.freed(block->bytes);
}

std::int64_t TensorAccount::live_bytes() const noexcept {
  const std::lock_guard guard(lock_);
  return live_bytes_;
}

std::optional<Block> TensorAccount::find(std::uintptr_t address) const noexcept {
  const std::lock_guard guard(lock_);
  return blocks_.find(address);
}

std::vector<Block> TensorAccount::at_least(std::int64_t min_bytes) const {
  const std::lock_guard guard(lock_);
  return blocks_.at_least(min_bytes);
}

std::vector<GrownBlock> TensorAccount::grown() const {
  const std::lock_guard guard(lock_);
  return growth_.grown();
}

std::vector<ChurnedBlocks> TensorAccount::churned() const {
  const std::lock_guard guard(lock_);
  return churn_.churned();
}

void TensorAccount::begin_cell(int index) {
  const std::lock_guard guard(lock_);
  if (running_.empty()) {
    growth_.clear();
    churn_.clear();
  }
  running_.push_back({index, live_bytes_, peak_bytes_, allocated_bytes_});
  peak_bytes_ = live_bytes_;
  cell_ = index;
}

std::optional<CellUse> TensorAccount::end_cell(int index) noexcept {
  const std::lock_guard guard(lock_);
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [index](const Mark& mark) { return mark.cell == index; });
  if (at == running_.end()) return std::nullopt;
  const CellUse use{live_bytes_ - at->live_bytes, peak_bytes_,
                    allocated_bytes_ - at->allocated_bytes};
  // What an inner cell reached, the outer one reached too.
  peak_bytes_ = std::max(peak_bytes_, at->outer_peak_bytes);
  running_.erase(at, running_.end());
  cell_ = running_.empty() ? 0 : running_.back().cell;
  return use;
}

int TensorAccount::begin_scope() {
  const std::lock_guard guard(lock_);
  scopes_.push_back({++last_scope_, live_bytes_, live_bytes_, allocated_bytes_, 0});
  return last_scope_;
}

const TensorAccount::Scope* TensorAccount::scope(int number) const noexcept {
  const auto at = std::find_if(scopes_.begin(), scopes_.end(),
                               [number](const Scope& it) { return it.number == number; });
  return at == scopes_.end() ? nullptr : &*at;
}

std::optional<CellUse> TensorAccount::scope_use(int number) const noexcept {
  const std::lock_guard guard(lock_);
  const Scope* at = scope(number);
  if (at == nullptr) return std::nullopt;
  return CellUse{live_bytes_ - at->live_bytes, at->peak_bytes,
                 allocated_bytes_ - at->allocated_bytes};
}

std::int64_t TensorAccount::older_freed_bytes(int number) const noexcept {
  const std::lock_guard guard(lock_);
  const Scope* at = scope(number);
  return at == nullptr ? 0 : at->older_freed_bytes;
}

void TensorAccount::end_scope(int scope) noexcept {
  const std::lock_guard guard(lock_);
  const auto at = std::find_if(scopes_.begin(), scopes_.end(),
                               [scope](const Scope& it) { return it.number == scope; });
  if (at != scopes_.end()) scopes_.erase(at);
}

}  // namespace xleak::libtorch
