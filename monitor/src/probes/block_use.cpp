#include "probes/block_use.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "retention/block_recorder.hpp"
#include "retention/resident_pages.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {
namespace {

// More lines than anybody reads; each costs 16 bytes in every record.
constexpr std::size_t kMostLines = 16;

std::int64_t alive_bytes_born_in(std::uint32_t cell) {
  std::int64_t heap_bytes = 0;
  std::vector<KnownBlock> maps;
  recorder.table().each([&](const KnownBlock& block) {
    if (block.cell != cell) return;
    if (block.kind == BlockKind::heap) heap_bytes += block.bytes;
    if (block.kind == BlockKind::anonymous_map) maps.push_back(block);
  });
  if (maps.empty()) return heap_bytes;
  const ResidentPages pages;
  std::int64_t mapped_bytes = 0;
  for (const KnownBlock& map : maps) {
    mapped_bytes += pages.bytes(map.address, map.bytes).value_or(map.bytes);
  }
  return heap_bytes + mapped_bytes;
}

}  // namespace

void CellBlocks::begin(int cell) noexcept {
  cell_ = cell;
  xleak::monitor::births_belong_to(static_cast<std::uint32_t>(cell));
  is_known_ = recorder.records();
  alive_before_bytes_ = is_known_ ? recorder.sums().alive_bytes : 0;
  order_before_ = recorder.last_order();
}

std::optional<BlockUse> CellBlocks::read() noexcept {
  if (cell_ == 0 || !is_known_ || !recorder.records()) return std::nullopt;
  try {
    BlockUse use;
    if (recorder.last_order() == order_before_) return use;
    use.alive_bytes = alive_bytes_born_in(static_cast<std::uint32_t>(cell_));
    use.peak_bytes = std::max<std::int64_t>(0, recorder.sums().peak_bytes - alive_before_bytes_);
    use.at_peak = recorder.made_up_the_peak();
    if (use.at_peak.size() > kMostLines) use.at_peak.resize(kMostLines);
    return use;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace xleak::monitor
