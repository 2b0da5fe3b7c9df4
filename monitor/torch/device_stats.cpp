#include "device_stats.hpp"

#include <torch/version.h>

#include <exception>

#define XLEAK_HAS_DEVICE_ALLOCATOR \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9))

#if XLEAK_HAS_DEVICE_ALLOCATOR
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#endif

namespace xleak::libtorch {

#if XLEAK_HAS_DEVICE_ALLOCATOR

namespace {

constexpr c10::DeviceType kAccelerators[] = {
    c10::DeviceType::CUDA, c10::DeviceType::HIP, c10::DeviceType::XPU,
    c10::DeviceType::MTIA, c10::DeviceType::MPS, c10::DeviceType::PrivateUse1,
};

// Empty where torch was built without the accelerator or nobody has used it yet.
c10::DeviceAllocator* allocator_in_use(c10::DeviceType type) {
  if (!c10::impl::hasDeviceGuardImpl(type)) return nullptr;
  try {
    auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(type));
    return allocator != nullptr && allocator->initialized() ? allocator : nullptr;
  } catch (const c10::Error&) {
    return nullptr;
  }
}

DeviceStats row(const c10::Device& device, const c10::CachingDeviceAllocator::DeviceStats& stats) {
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  DeviceStats result;
  result.device = device.str();
  result.allocated_bytes = stats.allocated_bytes[kAll].current;
  result.allocated_peak_bytes = stats.allocated_bytes[kAll].peak;
  result.reserved_bytes = stats.reserved_bytes[kAll].current;
  result.inactive_split_bytes = stats.inactive_split_bytes[kAll].current;
  result.handed_out_bytes = stats.allocated_bytes[kAll].allocated;
  result.retries = stats.num_alloc_retries;
  result.out_of_memory = stats.num_ooms;
  return result;
}

}  // namespace

bool has_device_stats() noexcept { return true; }

std::vector<DeviceStats> device_stats() {
  std::vector<DeviceStats> rows;
  for (const c10::DeviceType type : kAccelerators) {
    auto* allocator = allocator_in_use(type);
    if (allocator == nullptr) continue;
    const auto devices = c10::impl::getDeviceGuardImpl(type)->deviceCount();
    for (c10::DeviceIndex index = 0; index < devices; ++index) {
      try {
        rows.push_back(row({type, index}, allocator->getDeviceStats(index)));
      } catch (const c10::Error&) {
        continue;  // Torch has not used this one.
      }
    }
  }
  return rows;
}

#else

bool has_device_stats() noexcept { return false; }
std::vector<DeviceStats> device_stats() { return {}; }

#endif

std::size_t read_devices(char (*names)[16], std::int64_t* allocated_bytes,
                         std::int64_t* reserved_bytes, std::size_t most) noexcept {
  std::size_t count = 0;
  try {
    for (const DeviceStats& stats : device_stats()) {
      if (count == most || stats.device.size() >= sizeof *names) break;
      names[count][stats.device.copy(names[count], stats.device.size())] = 0;
      allocated_bytes[count] = stats.allocated_bytes;
      reserved_bytes[count] = stats.reserved_bytes;
      ++count;
    }
  } catch (const std::exception&) {
    return count;  // The driver went away, or there is no memory: the rest is not told.
  }
  return count;
}

}  // namespace xleak::libtorch
