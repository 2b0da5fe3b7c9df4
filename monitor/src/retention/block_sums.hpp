#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "retention/thread_slots.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// What is alive, its peak, and which lines made up the peak, at a few nanoseconds for each birth
/// and each end of a block.
///
/// Each thread adds to an account of its own, without locked instructions, and reports to the
/// shared sums when it has moved by kUnreportedBytes, or goes down from what would be a new peak.
/// So the peak of one thread is exact, and each other thread may add or take up to
/// kUnreportedBytes.
///
/// For the lines there is no copy of all of them at each new peak: a line keeps what it had before
/// its first change since the last peak, and the number of that peak.
class BlockSumsByLine {
 public:
  static constexpr std::int64_t kUnreportedBytes = std::int64_t{4} << 20;

  /// A birth, or an end where the bytes are negative.
  void add(std::int64_t bytes, SiteIndex site) noexcept;
  BlockSums sums() noexcept;
  /// What is alive is the peak so far.
  void begin_peak() noexcept;
  std::vector<AtPeak> made_up_the_peak();
  /// Forgets everything. Whoever is in the middle of add() may leave its block in one line's sum.
  void restart() noexcept;

 private:
  static constexpr std::size_t kSites = std::size_t{1} << 16;
  static constexpr std::size_t kRecentSites = 8;

  struct Line {
    std::atomic<std::int64_t> alive_bytes;
    std::atomic<std::int64_t> bytes_at_peak;  ///< If `peak` is the last one; else as alive.
    std::atomic<std::uint32_t> peak;
  };
  /// What a thread has not yet added to a line. A loop that makes and drops at a few lines ends up
  /// where it began, and the line never hears of it.
  struct Recent {
    std::atomic<SiteIndex> site;
    std::atomic<std::int64_t> bytes;
  };
  /// Written by its thread alone; read by all.
  struct alignas(64) Account {
    std::atomic<std::int64_t> bytes;
    std::atomic<std::int64_t> reported_bytes;
    std::atomic<std::uint32_t> generation;
    std::array<Recent, kRecentSites> recent;
  };

  void start(Account& account) noexcept;
  void add_to_recent(Account& account, std::int64_t bytes, SiteIndex site) noexcept;
  void add_to_line(SiteIndex site, std::int64_t bytes) noexcept;
  void add_shared(std::int64_t bytes, SiteIndex site) noexcept;
  void report(Account& account) noexcept;
  void report_own() noexcept;
  void report_of_ended_threads() noexcept;
  void raise_peak(std::int64_t alive_bytes) noexcept;
  bool is_current(const Account& account) const noexcept {
    return account.generation.load(std::memory_order_relaxed) ==
           generation_.load(std::memory_order_relaxed);
  }

  std::array<Account, ThreadSlots::kSlots> accounts_{};
  std::array<Line, kSites> lines_{};
  std::atomic<std::uint32_t> sites_{0};  ///< Those from here on have never changed.
  std::atomic<std::int64_t> reported_bytes_{0};
  std::atomic<std::int64_t> peak_bytes_{0};
  std::atomic<std::uint32_t> peak_{1};
  std::atomic<std::uint32_t> generation_{1};
};

inline void BlockSumsByLine::add_to_recent(Account& account, std::int64_t bytes,
                                           SiteIndex site) noexcept {
  Recent& recent = account.recent[site % kRecentSites];
  std::int64_t pending = recent.bytes.load(std::memory_order_relaxed);
  if (recent.site.load(std::memory_order_relaxed) != site) {
    if (pending != 0) add_to_line(recent.site.load(std::memory_order_relaxed), pending);
    recent.site.store(site, std::memory_order_relaxed);
    pending = 0;
  }
  pending += bytes;
  if (pending > kUnreportedBytes || pending < -kUnreportedBytes) {
    add_to_line(site, pending);
    pending = 0;
  }
  recent.bytes.store(pending, std::memory_order_relaxed);
}

inline void BlockSumsByLine::add(std::int64_t bytes, SiteIndex site) noexcept {
  const std::uint16_t slot = assigned_thread().slot;
  if (slot == 0) return add_shared(bytes, site);
  Account& mine = accounts_[slot];
  if (!is_current(mine)) start(mine);
  const std::int64_t before = mine.bytes.load(std::memory_order_relaxed);
  const std::int64_t grown = before - mine.reported_bytes.load(std::memory_order_relaxed);
  // Before it goes down from there, with the lines as they are.
  if (bytes < 0 && grown > 0 &&
      reported_bytes_.load(std::memory_order_relaxed) + grown >
          peak_bytes_.load(std::memory_order_relaxed)) {
    report(mine);
  }
  add_to_recent(mine, bytes, site);
  mine.bytes.store(before + bytes, std::memory_order_relaxed);
  const std::int64_t unreported =
      before + bytes - mine.reported_bytes.load(std::memory_order_relaxed);
  if (unreported > kUnreportedBytes || unreported < -kUnreportedBytes) report(mine);
}

}  // namespace xleak::monitor
