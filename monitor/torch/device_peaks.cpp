#include "device_peaks.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace xleak::libtorch {
namespace {

// A cell whose end was lost is not followed for ever.
constexpr std::size_t kMostRunning = 32;

void lock_before_fork() { DevicePeaks::instance().lock(); }
void unlock_after_fork() { DevicePeaks::instance().unlock(); }

DevicePeaks* make() {
  DevicePeaks* peaks = std::make_unique<DevicePeaks>().release();
  ::pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
  return peaks;
}

}  // namespace

DevicePeaks& DevicePeaks::instance() {
  static DevicePeaks* const peaks = make();
  return *peaks;
}

void DevicePeaks::start(std::size_t devices) {
  const std::lock_guard guard(lock_);
  latest_.assign(devices, std::nullopt);
}

bool DevicePeaks::is_known(int device) const noexcept {
  return device >= 0 && static_cast<std::size_t>(device) < latest_.size();
}

void DevicePeaks::raise(std::size_t device, std::int64_t live_bytes) noexcept {
  for (RunningCell& cell : running_) {
    if (device >= cell.peak_bytes.size()) continue;
    auto& peak = cell.peak_bytes[device];
    peak = std::max(peak.value_or(live_bytes), live_bytes);
  }
}

// Since the last one there was one allocation at most, and then one free at most: what is live now
// and what was freed were live at once.
void DevicePeaks::take(std::size_t device, const DeviceCounters& now) noexcept {
  auto& latest = latest_[device];
  std::int64_t freed_bytes = 0;
  if (latest) {
    const bool set_back = now.handed_out_bytes < latest->handed_out_bytes;
    freed_bytes = now.freed_bytes - (set_back ? 0 : latest->freed_bytes);
  }
  raise(device, now.live_bytes + freed_bytes);
  latest = now;
}

void DevicePeaks::event(int device, const DeviceCounters& now) noexcept {
  const std::lock_guard guard(lock_);
  if (is_known(device)) take(static_cast<std::size_t>(device), now);
}

void DevicePeaks::reading(int device, const DeviceCounters& now) noexcept {
  const std::lock_guard guard(lock_);
  if (!is_known(device)) return;
  const auto at = static_cast<std::size_t>(device);
  const auto& latest = latest_[at];
  const bool overtaken = latest && (now.handed_out_bytes < latest->handed_out_bytes ||
                                    now.freed_bytes < latest->freed_bytes);
  // An old one, or the sums were set back: so much was live all the same.
  if (overtaken) {
    raise(at, now.live_bytes);
  } else {
    take(at, now);
  }
}

void DevicePeaks::begin_cell(int index) {
  const std::lock_guard guard(lock_);
  if (running_.size() == kMostRunning) running_.erase(running_.begin());
  running_.push_back({index, std::vector<std::optional<std::int64_t>>(latest_.size())});
}

std::vector<DevicePeaks::Peak> DevicePeaks::end_cell(int index) {
  const std::lock_guard guard(lock_);
  std::vector<Peak> peaks;
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [index](const RunningCell& cell) { return cell.index == index; });
  if (at == running_.end()) return peaks;
  for (std::size_t device = 0; device < at->peak_bytes.size(); ++device) {
    if (at->peak_bytes[device])
      peaks.emplace_back(static_cast<int>(device), *at->peak_bytes[device]);
  }
  running_.erase(at);
  return peaks;
}

}  // namespace xleak::libtorch
