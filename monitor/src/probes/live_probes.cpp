#include "probes/block_use.hpp"
#include "probes/heap.hpp"
#include "probes/high_water.hpp"
#include "probes/probes.hpp"
#include "probes/resident.hpp"
#include "retention/block_recorder.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor {
namespace {

template <class Probe>
void open(std::optional<Probe>& probe) {
  try {
    probe.emplace();
  } catch (const Error&) {
    probe.reset();
  }
}

class LiveProbes final : public Probes {
 public:
  LiveProbes() {
    open(resident_);
    open(high_water_);
  }

  std::optional<std::int64_t> resident_bytes() noexcept override {
    return resident_ ? resident_->read() : std::nullopt;
  }
  std::optional<std::int64_t> high_water_bytes() noexcept override {
    return high_water_ ? high_water_->read() : std::nullopt;
  }
  Usage usage() noexcept override { return read_usage(); }
  std::optional<HeapUse> heap() noexcept override {
    auto heap = try_read_heap();
    if (heap && recorder.records())
      heap->small_bytes = heap->used_bytes - recorder.sums().alive_bytes;
    return heap;
  }
  std::chrono::nanoseconds now() noexcept override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  void births_belong_to(int cell) noexcept override { blocks_.begin(cell); }
  std::optional<BlockUse> block_use() noexcept override { return blocks_.read(); }

 private:
  std::optional<Resident> resident_;
  std::optional<HighWater> high_water_;
  CellBlocks blocks_;
};

}  // namespace

std::unique_ptr<Probes> live_probes() { return std::make_unique<LiveProbes>(); }

}  // namespace xleak::monitor
