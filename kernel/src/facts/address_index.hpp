#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "xleak/monitor/graph.hpp"

namespace xleak::facts {

/// Memory that is no object has an odd address here, objects an even one.
inline std::uintptr_t memory_address(std::int64_t address) {
  return (static_cast<std::uintptr_t>(address) << 1) | 1;
}

/// Finds nodes by address: a table of node numbers alone, 8 to 16 bytes a node.
class AddressIndex {
 public:
  /// `addresses`: by node; 0 for nodes without one. It must outlive this object.
  explicit AddressIndex(const monitor::LargeVector<std::uintptr_t>& addresses)
      : addresses_(addresses) {}

  monitor::GraphNode find(std::uintptr_t address) const {
    if (slots_.empty()) return monitor::kNoNode;
    for (std::size_t at = start_of(address);; at = (at + 1) & mask()) {
      const monitor::GraphNode node = slots_[at];
      if (node == monitor::kNoNode || addresses_[node] == address) return node;
    }
  }

  /// Makes room for so many nodes at once.
  void reserve(std::size_t count) {
    while (slots_.size() < 2 * count) grow();
  }

  /// `node` is new, and its address stands in `addresses` already.
  void add(monitor::GraphNode node) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place(node);
    ++used_;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t start_of(std::uintptr_t address) const {
    // Neighbours in memory are read one after the other, and are to be neighbours here too.
    return ((address >> 4) + (address >> 26) * 0x9E3779B97F4A7C15U) & mask();
  }
  void place(monitor::GraphNode node) {
    std::size_t at = start_of(addresses_[node]);
    while (slots_[at] != monitor::kNoNode) at = (at + 1) & mask();
    slots_[at] = node;
  }
  void grow() {
    const monitor::LargeVector<monitor::GraphNode> old(std::move(slots_));
    slots_.assign(old.empty() ? 1024 : 2 * old.size(), monitor::kNoNode);
    for (const monitor::GraphNode node : old) {
      if (node != monitor::kNoNode) place(node);
    }
  }

  const monitor::LargeVector<std::uintptr_t>& addresses_;
  monitor::LargeVector<monitor::GraphNode> slots_;
  std::size_t used_ = 0;
};

}  // namespace xleak::facts
