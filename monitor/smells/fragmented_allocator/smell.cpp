// Device memory that is free and yet in pieces too small to be used.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::fragmented_allocator {
namespace {

// Reserved memory beyond this multiple of what is allocated is the sign that guides give.
constexpr double kReservedPerAllocated = 1.5;
// Small sessions reach that ratio by the allocator's own rounding.
constexpr std::int64_t kManyBytes = std::int64_t{256} << 20;
// What is free in whole segments is a cache; this share lies between blocks in use.
constexpr double kSplitShare = 0.3;

bool is_fragmented(const DeviceState& device) {
  if (!device.allocated_bytes || !device.reserved_bytes || !device.inactive_split_bytes)
    return false;
  const auto allocated = static_cast<double>(*device.allocated_bytes);
  const auto reserved = static_cast<double>(*device.reserved_bytes);
  return reserved > kReservedPerAllocated * allocated &&
         *device.reserved_bytes - *device.allocated_bytes >= kManyBytes &&
         static_cast<double>(*device.inactive_split_bytes) >= kSplitShare * reserved;
}

// No bytes: how many come back depends on what is moved.
Finding finding_of(const DeviceState& device, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.holders = {"torch's allocator on " + device.device};
  finding.path = finding.holders;
  finding.message =
      "On " + device.device + " torch holds " + human(*device.reserved_bytes) + " for tensors of " +
      human(*device.allocated_bytes) + ": " + human(*device.inactive_split_bytes) +
      " lie in pieces between small blocks that live on. Move those to the CPU, give batches few "
      "different sizes, or start with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. "
      "`%release_cache --caches` gives back only segments that are wholly free.";
  finding.fixes = {{"Give back what is wholly free", "%release_cache --caches"}};
  finding.key = "pieces on " + device.device;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const DeviceState& device : session.devices) {
    if (is_fragmented(device)) findings.push_back(finding_of(device, session));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL604", "fragmented_allocator", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::fragmented_allocator
