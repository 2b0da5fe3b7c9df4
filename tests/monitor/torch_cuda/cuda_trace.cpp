#include "torch/cuda_trace.hpp"

#include <c10/core/impl/FakeGuardImpl.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "scripted_allocator.hpp"

// A torch for the CPU has none of these.
std::atomic<c10::cuda::CUDACachingAllocator::CUDAAllocator*>
    c10::cuda::CUDACachingAllocator::allocator{nullptr};
void c10::cuda::c10_cuda_check_implementation(std::int32_t, const char*, const char*, std::uint32_t,
                                              bool) {}
cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*) { return cudaSuccess; }
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>)

using namespace xleak::libtorch;

namespace {

std::int64_t peak_of(const std::string& device, int cell) {
  const auto peaks = end_device_cell(cell);
  const auto at =
      std::find_if(peaks.begin(), peaks.end(), [&](const auto& it) { return it.first == device; });
  return at == peaks.end() ? -1 : at->second;
}

}  // namespace

// One case: what follows the allocator does so for the rest of the process.
TEST_CASE("a cell's peak on a device is what torch's own counter reached during it") {
  ScriptedAllocator allocator;
  begin_device_cell(1);
  CHECK(end_device_cell(1).empty());

  c10::cuda::CUDACachingAllocator::allocator = &allocator;
  begin_device_cell(2);
  CHECK_MESSAGE(allocator.trackers() == 0, "CUDA is not initialised yet");
  CHECK(end_device_cell(2).empty());

  // The user initialises CUDA: a tensor of 100 bytes, another of 3000 that went.
  allocator.is_initialized = true;
  allocator.hand_out(0, 100, 512);
  allocator.hand_out(0, 3000, 3072);
  allocator.take_back(0, 3000, 3072);

  begin_device_cell(3);
  begin_device_cell(4);
  CHECK(allocator.trackers() == 1);
  allocator.hand_out(0, 600, 1024);
  allocator.hand_out(1, 1, 512);
  allocator.take_back(0, 600, 1024);
  allocator.tell(ScriptedAllocator::Entry::SEGMENT_ALLOC, 0, 2 << 20);
  CHECK_MESSAGE(peak_of("cuda:0", 3) == 512 + 1024, "the blocks, as the counter has them");
  CHECK(peak_of("cuda:1", 4) == 512);

  CHECK_MESSAGE(allocator.allocated_bytes(0).peak == 512 + 3072, "the user's counter is untouched");
  CHECK(allocator.allocated_bytes(0).allocated == 512 + 3072 + 1024);
}
