#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "spin_lock.hpp"

namespace xleak::libtorch {

/// What the allocator of one device counts, in bytes. The user may set the two sums back to zero.
struct DeviceCounters {
  std::int64_t live_bytes = 0;
  std::int64_t handed_out_bytes = 0;
  std::int64_t freed_bytes = 0;
};

/// The most that was live at once on each device, per cell. Safe to use from every thread, and in a
/// child forked while another thread used it.
class DevicePeaks {
 public:
  /// Device and bytes.
  using Peak = std::pair<int, std::int64_t>;

  /// The one of this process; lives until the process ends, since devices allocate until then.
  static DevicePeaks& instance();

  /// With the number of devices; what is noted of others is left out.
  explicit DevicePeaks(std::size_t devices = 0) : latest_(devices) {}
  DevicePeaks(const DevicePeaks&) = delete;
  DevicePeaks& operator=(const DevicePeaks&) = delete;

  /// Sets the number of devices, and forgets what was noted of them.
  void start(std::size_t devices);

  /// At each allocation before it counts and at each free after it did, one device's in their
  /// order.
  void event(int device, const DeviceCounters& now) noexcept;
  /// At any other time; another thread's event may have overtaken it.
  void reading(int device, const DeviceCounters& now) noexcept;

  /// Cells may overlap. Each device wants a reading after it.
  void begin_cell(int index);
  /// Of each device that was noted since its beginning. Wants a reading of each before it.
  std::vector<Peak> end_cell(int index);

  /// Around a fork, so that the child has no lock that nobody in it will open.
  void lock() const noexcept { lock_.lock(); }
  void unlock() const noexcept { lock_.unlock(); }

 private:
  struct RunningCell {
    int index;
    std::vector<std::optional<std::int64_t>> peak_bytes;
  };

  bool is_known(int device) const noexcept;
  void take(std::size_t device, const DeviceCounters& now) noexcept;
  void raise(std::size_t device, std::int64_t live_bytes) noexcept;

  mutable SpinLock lock_;
  std::vector<std::optional<DeviceCounters>> latest_;
  std::vector<RunningCell> running_;
};

}  // namespace xleak::libtorch
