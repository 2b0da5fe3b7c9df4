#include "retention/block_sums.hpp"

#include <algorithm>

namespace xleak::monitor {

// Another thread may be in the middle of the same line's first change: then what one of them adds
// may be in the line's bytes at the peak as well.
void BlockSumsByLine::add_to_line(SiteIndex site, std::int64_t bytes) noexcept {
  const SiteIndex place = site % kSites;
  std::uint32_t end = sites_.load(std::memory_order_relaxed);
  while (end <= place && !sites_.compare_exchange_weak(end, place + 1)) continue;
  Line& line = lines_[place];
  const std::uint32_t peak = peak_.load(std::memory_order_acquire);
  std::uint32_t seen = line.peak.load(std::memory_order_acquire);
  if (seen != peak && line.peak.compare_exchange_strong(seen, peak, std::memory_order_acq_rel)) {
    const std::int64_t alive = line.alive_bytes.load(std::memory_order_relaxed);
    line.bytes_at_peak.store(alive, std::memory_order_release);
  }
  line.alive_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void BlockSumsByLine::start(Account& account) noexcept {
  account.bytes.store(0, std::memory_order_relaxed);
  account.reported_bytes.store(0, std::memory_order_relaxed);
  for (Recent& recent : account.recent) recent.bytes.store(0, std::memory_order_relaxed);
  account.generation.store(generation_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void BlockSumsByLine::add_shared(std::int64_t bytes, SiteIndex site) noexcept {
  add_to_line(site, bytes);
  accounts_[0].bytes.fetch_add(bytes, std::memory_order_relaxed);
  raise_peak(reported_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void BlockSumsByLine::report(Account& account) noexcept {
  for (Recent& recent : account.recent) {
    const std::int64_t pending = recent.bytes.load(std::memory_order_relaxed);
    if (pending == 0) continue;
    add_to_line(recent.site.load(std::memory_order_relaxed), pending);
    recent.bytes.store(0, std::memory_order_relaxed);
  }
  const std::int64_t bytes = account.bytes.load(std::memory_order_relaxed);
  const std::int64_t moved = bytes - account.reported_bytes.load(std::memory_order_relaxed);
  account.reported_bytes.store(bytes, std::memory_order_relaxed);
  raise_peak(reported_bytes_.fetch_add(moved, std::memory_order_relaxed) + moved);
}

void BlockSumsByLine::raise_peak(std::int64_t alive_bytes) noexcept {
  std::int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (alive_bytes > peak) {
    if (!peak_bytes_.compare_exchange_weak(peak, alive_bytes, std::memory_order_relaxed)) continue;
    // From here on the first change of each line keeps what it had.
    peak_.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
}

void BlockSumsByLine::report_own() noexcept {
  const std::uint16_t slot = assigned_thread().slot;
  if (slot != 0 && is_current(accounts_[slot])) report(accounts_[slot]);
}

void BlockSumsByLine::report_of_ended_threads() noexcept {
  thread_slots.reclaim([this](std::size_t slot) {
    if (is_current(accounts_[slot])) report(accounts_[slot]);
  });
}

BlockSums BlockSumsByLine::sums() noexcept {
  report_own();
  std::int64_t alive = 0;
  for (std::size_t slot = 0; slot <= thread_slots.highest(); ++slot) {
    if (slot == 0 || is_current(accounts_[slot])) {
      alive += accounts_[slot].bytes.load(std::memory_order_relaxed);
    }
  }
  return {alive, std::max(alive, peak_bytes_.load(std::memory_order_relaxed)), 0};
}

void BlockSumsByLine::begin_peak() noexcept {
  report_own();
  report_of_ended_threads();
  peak_bytes_.store(reported_bytes_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  peak_.fetch_add(1, std::memory_order_acq_rel);
}

std::vector<AtPeak> BlockSumsByLine::made_up_the_peak() {
  report_own();
  report_of_ended_threads();
  const std::uint32_t peak = peak_.load(std::memory_order_acquire);
  std::vector<AtPeak> found;
  const std::size_t end = sites_.load(std::memory_order_acquire);
  for (std::size_t site = 0; site < end; ++site) {
    const Line& line = lines_[site];
    const bool changed = line.peak.load(std::memory_order_acquire) == peak;
    const auto& bytes = changed ? line.bytes_at_peak : line.alive_bytes;
    const std::int64_t at_peak = bytes.load(std::memory_order_acquire);
    if (at_peak > 0) found.push_back({static_cast<SiteIndex>(site), at_peak});
  }
  const auto larger = [](const AtPeak& a, const AtPeak& b) { return a.bytes > b.bytes; };
  std::stable_sort(found.begin(), found.end(), larger);
  return found;
}

void BlockSumsByLine::restart() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  accounts_[0].bytes.store(0, std::memory_order_relaxed);
  reported_bytes_.store(0, std::memory_order_relaxed);
  peak_bytes_.store(0, std::memory_order_relaxed);
  peak_.fetch_add(1, std::memory_order_acq_rel);
  const std::size_t end = sites_.load(std::memory_order_acquire);
  for (std::size_t site = 0; site < end; ++site) {
    lines_[site].alive_bytes.store(0, std::memory_order_relaxed);
    lines_[site].bytes_at_peak.store(0, std::memory_order_relaxed);
  }
}

}  // namespace xleak::monitor
