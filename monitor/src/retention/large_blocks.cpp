#include "xleak/monitor/large_blocks.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "retention/allocator_hooks.hpp"
#include "retention/block_recorder.hpp"
#include "retention/competing_allocators.hpp"
#include "retention/import_tables.hpp"
#include "retention/replaced_imports.hpp"
#include "retention/resident_pages.hpp"
#include "retention/stale_blocks.hpp"

namespace xleak::monitor {
namespace {

// Of install, uninstall and state; no hook takes it.
std::mutex state_lock;
LedgerState state{false, "it was not asked for.", 0};
std::atomic<int> later_slots{0};
std::atomic<bool> forked{false};

constexpr const char* kForked =
    "this process was forked from the one that it is on in: what it kept of blocks is not "
    "followed.";

void be_off_in_child() noexcept {
  if (!recorder.records()) return;
  forked.store(true, std::memory_order_relaxed);
  recorder.stop();
  end_walks_after_fork();
}

void set_new_libraries() noexcept {
  if (!recorder.records()) return;
  later_slots.fetch_add(replace_new_imports(), std::memory_order_relaxed);
}

#if XLEAK_KNOWS_IMPORT_TABLES
/// Why not; empty where it is on afterwards.
std::string install() {
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return "libc.so.6 is not loaded: it is made for glibc alone.";
  if (const char* missing = find_originals(libc)) {
    return std::string("libc has no function ") + missing +
           ": it is made for glibc 2.34 and later.";
  }
  if (auto reason = competing_allocator()) return *reason;
  if (const void* python = ::dlsym(RTLD_DEFAULT, "PyObject_Malloc")) {
    const CodeRange code = code_that_has(python);
    arenas_are_mapped_from(code.begin, code.end);
  }
  static const bool follows_forks = ::pthread_atfork(nullptr, nullptr, be_off_in_child) == 0;
  if (!follows_forks) return "the system does not say when this process forks.";
  see_new_libraries.store(set_new_libraries, std::memory_order_release);
  recorder.begin();
  const ImportWalk walk = replace_imports();
  if (auto reason = competing_profiler(walk)) {
    restore_imports();
    recorder.end();
    return *reason;
  }
  later_slots.store(0, std::memory_order_relaxed);
  state.slots = walk.set;
  return {};
}
#else
std::string install() { return "it is made for x86-64 with glibc alone."; }
#endif

LedgerState current_state() {
  LedgerState now = state;
  if (now.installed) now.slots += later_slots.load(std::memory_order_relaxed);
  return now;
}

LargeBlock as_listed(const KnownBlock& block, const ResidentPages& pages) {
  LargeBlock listed{block.address, block.bytes, block.kind,   block.cell,
                    block.order,   block.site,  block.thread, 0};
  if (block.kind == BlockKind::heap) return listed;
  listed.reserved_bytes = block.bytes;
  if (block.kind != BlockKind::file_map) {
    if (const auto used = pages.bytes(block.address, block.bytes)) listed.bytes = *used;
  }
  return listed;
}

}  // namespace

LedgerState install_ledger() {
  if (forked.load(std::memory_order_relaxed)) return ledger_state();
  const std::lock_guard held(state_lock);
  if (!state.installed) {
    state.slots = 0;
    state.reason = install();
    state.installed = state.reason.empty();
  }
  return current_state();
}

LedgerState ledger_state() {
  // Another thread of the parent may have had the lock.
  if (forked.load(std::memory_order_relaxed)) return {false, kForked, 0};
  const std::lock_guard held(state_lock);
  return current_state();
}

void uninstall_ledger() {
  if (forked.load(std::memory_order_relaxed)) return;
  const std::lock_guard held(state_lock);
  if (!state.installed) return;
  restore_imports();
  recorder.end();
  state = {false, "it was taken out again.", 0};
}

void births_belong_to(std::uint32_t cell) noexcept { recorder.births_belong_to(cell); }

std::vector<LargeBlock> living_blocks() {
  if (!recorder.records()) return {};
  if (imports_were_taken_back()) replace_imports();
  set_new_libraries();
  // What this call allocates itself is younger.
  const std::uint32_t last = recorder.last_order();
  std::vector<KnownBlock> blocks;
  recorder.table().each([&](const KnownBlock& block) {
    if (static_cast<std::int32_t>(block.order - last) <= 0) blocks.push_back(block);
  });
  for (const KnownBlock& stale : take_out_stale(blocks)) recorder.drop(stale);
  const ResidentPages pages;
  std::vector<LargeBlock> listed;
  listed.reserve(blocks.size());
  for (const KnownBlock& block : blocks) listed.push_back(as_listed(block, pages));
  return listed;
}

const LargeBlock* block_with(const std::vector<LargeBlock>& blocks, std::uintptr_t address) {
  const auto next = std::upper_bound(
      blocks.begin(), blocks.end(), address,
      [](std::uintptr_t at, const LargeBlock& block) { return at < block.address; });
  if (next == blocks.begin()) return nullptr;
  const LargeBlock& block = *(next - 1);
  const auto length = static_cast<std::uintptr_t>(std::max(block.bytes, block.reserved_bytes));
  return address < block.address + length ? &block : nullptr;
}

std::optional<std::int64_t> resident_bytes(std::uintptr_t begin, std::int64_t length) {
  return ResidentPages().bytes(begin, length);
}

BlockSums block_sums() noexcept { return recorder.records() ? recorder.sums() : BlockSums{}; }

std::vector<AtPeak> made_up_the_peak() {
  if (!recorder.records()) return {};
  return recorder.made_up_the_peak();
}

}  // namespace xleak::monitor
