// Memory that objects share although their library does not report it: found once all is read.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "buffers.hpp"
#include "heap_snapshot.hpp"

namespace xleak::facts {

void HeapSnapshot::add_polars(PyObject* frame) {
  const auto key = memory_address(reinterpret_cast<std::int64_t>(frame));
  const Node node = add_node(key, polars_bytes(frame));
  owners_[node] = "unknown";
  late_[node] = 0;
  polars_.push_back(node);
  add_edge(node, 1);
}

void HeapSnapshot::fill_late_edges() {
  const bool any = !late_.empty() || !borrowed_.empty();
  // Polars does not say which frames share a buffer, so any of them may have those of all.
  join(polars_);
  join_borrowed();
  std::sort(arrays_.begin(), arrays_.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  for (const auto& [storage, address] : foreign_) {
    const auto after = std::upper_bound(
        arrays_.begin(), arrays_.end(), address,
        [](std::uintptr_t wanted, const Range& array) { return wanted < array.start; });
    if (after == arrays_.begin()) continue;
    const Range& array = *std::prev(after);
    if (address >= array.start + static_cast<std::uintptr_t>(array.bytes)) continue;
    // The tensor was made over the array, which has the memory.
    graph_.targets[late_[storage]] = array.array;
    references_[array.array] += 1;
    bytes_[storage] = 0;
  }
  arrays_ = {};
  if (any) drop_open_edges();
}

/// Those for which nothing was found. Left as edges to the node itself they would be cycles.
void HeapSnapshot::drop_open_edges() {
  // The last edge of the root is open until read_outside().
  std::uint64_t start = graph_.first[1];
  std::uint64_t kept = start;
  for (Node node = 1; node < graph_.size(); ++node) {
    const std::uint64_t stop = graph_.first[node + 1];
    for (; start < stop; ++start) {
      if (graph_.targets[start] != monitor::kNoNode) graph_.targets[kept++] = graph_.targets[start];
    }
    graph_.first[node + 1] = kept;
  }
  graph_.targets.resize(kept);
}

/// The array that TensorFlow makes of a tensor does not lead to it.
void HeapSnapshot::join_borrowed() {
  std::map<std::uintptr_t, Node> starts;
  for (const Eager& eager : eager_) {
    if (!eager.is_variable) starts[eager.start] = eager.memory;
  }
  for (const Borrowed& array : borrowed_) {
    const auto after = starts.upper_bound(array.address);
    if (after == starts.begin()) continue;
    const auto& [start, memory] = *std::prev(after);
    const auto bytes = static_cast<std::uintptr_t>(bytes_[memory]);
    if (array.address < start + bytes) graph_.targets[array.edge] = memory;
  }
  borrowed_ = {};
}

/// Whoever leads to one of them leads to all.
void HeapSnapshot::join(const std::vector<Node>& memory) {
  if (memory.size() < 2) return;
  for (std::size_t i = 0; i < memory.size(); ++i)
    graph_.targets[late_[memory[i]]] = memory[(i + 1) % memory.size()];
}

/// A variable has the memory of the tensor that it was given until it changes, and what was read
/// from it has the variable's: of the same size at least. TensorFlow does not report which, so
/// memory that something left may share does not count as freed.
void HeapSnapshot::keep_doubtful(monitor::Marks& left) const {
  std::set<std::pair<std::int64_t, bool>> in_use;
  for (const Eager& eager : eager_) {
    if (left[eager.memory]) in_use.emplace(bytes_[eager.memory], eager.is_variable);
  }
  for (const Eager& eager : eager_) {
    if (in_use.count({bytes_[eager.memory], !eager.is_variable}) != 0) left[eager.memory] = true;
  }
}

}  // namespace xleak::facts
