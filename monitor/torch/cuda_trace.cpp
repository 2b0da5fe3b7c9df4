#include "cuda_trace.hpp"

// The build says so where torch is built for CUDA and CUDA's headers are there.
#ifdef XLEAK_CUDA_TRACE
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "device_peaks.hpp"
#endif

namespace xleak::libtorch {

#ifdef XLEAK_CUDA_TRACE

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

enum class State { not_yet, following, refused };
State state = State::not_yet;

DeviceCounters counters_of(caching::CUDAAllocator& allocator, c10::DeviceIndex device) {
  // StatType::AGGREGATE, which torch 2.5 moved to another namespace.
  constexpr std::size_t kAll = 0;
  const auto bytes = allocator.getDeviceStats(device).allocated_bytes[kAll];
  return {bytes.current, bytes.allocated, bytes.freed};
}

// Torch calls this under the device's lock, before it counts an allocation and after it counted a
// free. An event has the size that was asked for and the counter the rounded one, so the counter is
// read: the lock is recursive, and to read is all that is done under it.
void on_event(caching::CUDAAllocator& allocator, const caching::TraceEntry& entry) noexcept {
  using Action = caching::TraceEntry::Action;
  if (entry.action_ != Action::ALLOC && entry.action_ != Action::FREE_REQUESTED) return;
  const auto device = static_cast<c10::DeviceIndex>(entry.device_);
  try {
    DevicePeaks::instance().event(device, counters_of(allocator, device));
  } catch (const std::exception&) {
    return;  // It does not raise for a device that it just used.
  }
}

c10::DeviceIndex device_count() {
  return c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount();
}

bool is_following() {
  if (state != State::not_yet) return state == State::following;
  caching::CUDAAllocator* allocator = caching::get();
  if (allocator == nullptr || !allocator->initialized()) return false;
  try {
    DevicePeaks::instance().start(static_cast<std::size_t>(device_count()));
    allocator->attachAllocatorTraceTracker(
        [allocator](const caching::TraceEntry& entry) { on_event(*allocator, entry); });
    state = State::following;
  } catch (const c10::Error&) {
    state = State::refused;  // cudaMallocAsync and allocators of the user's have no trace.
  }
  return state == State::following;
}

void read_all() {
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    try {
      DevicePeaks::instance().reading(device, counters_of(*caching::get(), device));
    } catch (const c10::Error&) {
      continue;  // Torch has not used this one.
    }
  }
}

}  // namespace

bool follows_cuda() noexcept { return true; }

void begin_device_cell(int index) {
  if (!is_following()) return;
  DevicePeaks::instance().begin_cell(index);
  read_all();
}

std::vector<std::pair<std::string, std::int64_t>> end_device_cell(int index) {
  std::vector<std::pair<std::string, std::int64_t>> peaks;
  if (!is_following()) return peaks;
  read_all();
  for (const auto& [device, bytes] : DevicePeaks::instance().end_cell(index)) {
    peaks.emplace_back("cuda:" + std::to_string(device), bytes);
  }
  return peaks;
}

#else

bool follows_cuda() noexcept { return false; }
void begin_device_cell(int) {}
std::vector<std::pair<std::string, std::int64_t>> end_device_cell(int) { return {}; }

#endif

}  // namespace xleak::libtorch
