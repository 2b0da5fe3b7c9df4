// What a snapshot says of the memory of the whole process: who has it.
#include <algorithm>

#include "heap_snapshot.hpp"
#include "xleak/monitor/process_pages.hpp"

namespace xleak::facts {

namespace {

// The ledger knows no smaller blocks.
constexpr std::int64_t kPieceBytes = 64 << 10;

}  // namespace

HeapSnapshot::Account HeapSnapshot::account(const std::vector<std::vector<std::string>>& groups,
                                            const std::vector<monitor::LargeBlock>& blocks) const {
  Account account;
  const std::vector<std::int64_t> resident = monitor::resident_bytes(blocks);
  std::vector<std::int64_t> left = resident;
  using Births = std::map<std::pair<std::uint32_t, monitor::SiteIndex>, std::int64_t>;
  const auto listed = [](const Births& births) {
    std::vector<Birth> found;
    for (const auto& [place, bytes] : births) found.push_back({place.first, place.second, bytes});
    return found;
  };
  // Memory of a library's own pool whose address is not known.
  std::int64_t elsewhere = 0;
  const auto add = [&](Owned& owned, Births& births, Node node, bool is_named) {
    const auto device = devices_.find(node);
    if (bytes_[node] == 0 || (device != devices_.end() && device->second != "cpu")) return;
    const monitor::LargeBlock* block = monitor::block_with(blocks, start_of(node));
    if (block != nullptr && block->kind == monitor::BlockKind::python_arena) block = nullptr;
    // Beside its block it has the small objects that it alone refers to.
    const bool is_elsewhere = block == nullptr && is_memory(node) && bytes_[node] >= kPieceBytes;
    if (is_elsewhere) {
      elsewhere += bytes_[node];
      if (is_named) owned.large += bytes_[node];
      return;
    }
    const std::int64_t large = block == nullptr ? 0 : block->bytes;
    owned.pooled += pooled_[node];
    owned.small += std::max<std::int64_t>(0, bytes_[node] - pooled_[node] - large);
    if (block == nullptr) return;
    std::int64_t& free = left[static_cast<std::size_t>(block - blocks.data())];
    // A library's own pool has a map for the memory of many.
    const bool is_pool = block->kind == monitor::BlockKind::anonymous_map;
    const std::int64_t bytes = is_pool ? std::min(free, bytes_[node]) : free;
    free -= bytes;
    births[{block->cell, block->site}] += bytes;
    if (is_named) owned.large += bytes;
  };
  const monitor::Marks shut = closed();
  monitor::Marks seen = shut;
  for (const auto& labels : groups) {
    Owned owned;
    Births births;
    close_reached(label_nodes(labels), seen, [&](Node node) {
      add(owned, births, node, true);
      return true;
    });
    account.groups.push_back(owned);
    account.of_groups.push_back(listed(births));
  }
  Births unnamed, unseen;
  for (Node node = 1; node < graph_.size(); ++node)
    if (!seen[node] || shut[node]) add(account.rest, unnamed, node, false);
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const monitor::LargeBlock& block = blocks[at];
    const bool is_map = block.kind == monitor::BlockKind::anonymous_map;
    if (left[at] == 0 || (!is_map && block.kind != monitor::BlockKind::heap)) continue;
    const std::int64_t taken = is_map ? std::min(left[at], elsewhere) : 0;
    elsewhere -= taken;
    left[at] -= taken;
    if (is_map && left[at] < resident[at]) {
      account.pools += left[at];
    } else {
      unseen[{block.cell, block.site}] += left[at];
    }
  }
  account.unnamed = listed(unnamed);
  account.unseen = listed(unseen);
  return account;
}

}  // namespace xleak::facts
