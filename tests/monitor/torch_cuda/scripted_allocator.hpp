#pragma once
#include <c10/cuda/CUDACachingAllocator.h>

#include <vector>

/// Stands in for torch's CUDA allocator: counts, and tells its trace trackers, in the order of
/// torch's own. All else that such an allocator can do does nothing.
class ScriptedAllocator final : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  using Stats = c10::CachingDeviceAllocator::DeviceStats;
  using Entry = c10::CachingDeviceAllocator::TraceEntry;

  bool is_initialized = false;
  bool has_trace = true;
  std::size_t trackers() const { return trackers_.size(); }
  c10::CachingAllocator::Stat& allocated_bytes(c10::DeviceIndex device) {
    return stats_[static_cast<std::size_t>(device)].allocated_bytes[0];
  }

  /// A request of so many bytes gets a block of so many.
  void hand_out(c10::DeviceIndex device, std::size_t requested, std::size_t block) {
    tell(Entry::ALLOC, device, requested);
    allocated_bytes(device).increase(block);
  }
  void take_back(c10::DeviceIndex device, std::size_t requested, std::size_t block) {
    allocated_bytes(device).decrease(block);
    tell(Entry::FREE_REQUESTED, device, requested);
    tell(Entry::FREE_COMPLETED, device, requested);
  }
  void tell(Entry::Action action, c10::DeviceIndex device, std::size_t bytes) {
    const Entry entry(action, device, 0, bytes, nullptr, {0, 0}, 0);
    for (const auto& tracker : trackers_) tracker(entry);
  }

  bool initialized() override { return is_initialized; }
  Stats getDeviceStats(c10::DeviceIndex device) override {
    return stats_[static_cast<std::size_t>(device)];
  }
  void attachAllocatorTraceTracker(
      c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) override {
    TORCH_CHECK(has_trace, "no trace here");
    trackers_.push_back(std::move(tracker));
  }

  // What nobody calls here.
  using Device = c10::DeviceIndex;
  using Pool = c10::MempoolId_t;
  c10::DataPtr allocate(std::size_t) override { return {}; }
  void copy_data(void*, const void*, std::size_t) const override {}
  void* raw_alloc(std::size_t) override { return nullptr; }
  void* raw_alloc_with_stream(std::size_t, cudaStream_t) override { return nullptr; }
  void raw_delete(void*) override {}
  void init(int) override {}
  double getMemoryFraction(Device) override { return 1; }
  void setMemoryFraction(double, Device) override {}
  std::vector<c10::cuda::CUDACachingAllocator::StreamSegmentSize> getExpandableSegmentSizes(
      Device) override {
    return {};
  }
  void enable(bool) override {}
  bool isEnabled() const override { return true; }
  void cacheInfo(Device, std::size_t*) override {}
  void* getBaseAllocation(void*, std::size_t*) override { return nullptr; }
  void recordStream(const c10::DataPtr&, c10::cuda::CUDAStream) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::cuda::CUDACachingAllocator::SnapshotInfo snapshot(Pool, bool) override { return {}; }
  void beginAllocateToPool(Device, Pool, std::function<bool(cudaStream_t)>) override {}
  void endAllocateToPool(Device, Pool) override {}
  void releasePool(Device, Pool) override {}
  c10::cuda::CUDACachingAllocator::ShareableHandle shareIpcHandle(void*) override { return {}; }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { return {}; }
  void recordHistory(bool, c10::CachingDeviceAllocator::CreateContextFn, std::size_t,
                     c10::CachingDeviceAllocator::RecordContext, bool,
                     const std::vector<std::string>&) override {}
  void attachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver) override {}
  void attachOomRejectionObserver(c10::cuda::CUDACachingAllocator::OomRejectionObserver) override {}
  void enablePeerAccess(Device, Device) override {}
  cudaError_t memcpyAsync(void*, int, const void*, int, std::size_t, cudaStream_t, bool) override {
    return cudaSuccess;
  }
  std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> getCheckpointState(
      Device, Pool) override {
    return {};
  }
  c10::cuda::CUDACachingAllocator::CheckpointDelta setCheckpointPoolState(
      Device, std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState>) override {
    return {};
  }
  std::string name() override { return "scripted"; }
  void emptyCache(Pool) override {}
  void resetAccumulatedStats(Device) override {}
  void resetPeakStats(Device) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(Device) override { return {0, 0}; }

 private:
  std::vector<Stats> stats_ = std::vector<Stats>(8);
  std::vector<c10::CachingDeviceAllocator::AllocatorTraceTracker> trackers_;
};
