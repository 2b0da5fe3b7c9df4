// Memory that objects of extension modules have, and show by no interface.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "heap_snapshot.hpp"
#include "native_memory.hpp"

namespace xleak::facts {
namespace {

// The ledger knows no smaller blocks.
constexpr std::int64_t kLeastOwnedBytes = 64 << 10;
// For less nobody waits until all objects are read once more.
constexpr std::int64_t kLeastWithoutOwner = 1 << 20;

using BlockKey = HeapSnapshot::BlockKey;
BlockKey key_of(const monitor::LargeBlock& block) { return {block.address, block.order}; }

/// By block the addresses of the objects that led to it when it was first looked for. Later its
/// address may stand in memory that was freed and given to others. Empty: what a library made for
/// itself while it was imported, say, is not looked for after each cell.
using Owners = std::map<BlockKey, std::vector<std::uintptr_t>>;
Owners& known_owners() {
  static Owners owners;
  return owners;
}

}  // namespace

void HeapSnapshot::find_native_memory() {
  const std::vector<monitor::LargeBlock> blocks = monitor::living_blocks();
  const std::vector<monitor::LargeBlock> wanted = without_owner(blocks);
  std::int64_t sum = 0;
  for (const monitor::LargeBlock& block : wanted) sum += block.bytes;
  if (sum < kLeastWithoutOwner) return;
  std::vector<std::vector<Node>> leading(wanted.size());
  NativeMemory memory(blocks, wanted, types_, index_);
  std::vector<Edge> edges;
  for (const Node node : native_objects()) {
    auto* object = reinterpret_cast<PyObject*>(addresses_[node]);
    const std::size_t bytes = types_.native_bytes(Py_TYPE(object));
    find_hidden_references(node, bytes, edges);
    for (const std::size_t index : memory.behind(object, bytes)) leading[index].push_back(node);
  }
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    const std::vector<Node> owners = owners_of(key_of(wanted[at]), leading[at]);
    if (owners.empty()) continue;
    const auto start = static_cast<std::int64_t>(wanted[at].address);
    const Node block = add_node(memory_address(start), wanted[at].bytes);
    for (const Node owner : owners) edges.push_back({owner, block});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.from < b.from; });
  while (graph_.size() < addresses_.size()) graph_.end_row();
  insert(edges);
}

/// Of the objects that lead to a block now those that led to it first; all where none of those is
/// left.
std::vector<HeapSnapshot::Node> HeapSnapshot::owners_of(const BlockKey& block,
                                                        const std::vector<Node>& leading) const {
  std::vector<std::uintptr_t>& known = known_owners()[block];
  std::vector<Node> owners;
  for (const Node node : leading) {
    if (std::find(known.begin(), known.end(), addresses_[node]) != known.end())
      owners.push_back(node);
  }
  if (!owners.empty() || leading.empty()) return owners;
  known.clear();
  for (const Node node : leading) known.push_back(addresses_[node]);
  return leading;
}

/// The objects that extension modules lay out, in their order: those that names and entries lead
/// to, but through modules, classes and functions of libraries, whose own are many thousands.
std::vector<HeapSnapshot::Node> HeapSnapshot::native_objects() {
  std::vector<Node> labels(labels_.size());
  std::iota(labels.begin(), labels.end(), Node{1});
  std::vector<Node> found;
  each_reached(std::move(labels), closed(), [&](Node node) {
    if (is_memory(node) || addresses_[node] == 0) return true;
    auto* object = reinterpret_cast<PyObject*>(addresses_[node]);
    if (types_.native_bytes(Py_TYPE(object)) > sizeof(PyObject)) found.push_back(node);
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

/// References that an object has in its own bytes and does not show to the collector: to objects
/// that have more references than are known.
void HeapSnapshot::find_hidden_references(Node node, std::size_t bytes, std::vector<Edge>& edges) {
  auto* object = reinterpret_cast<PyObject*>(addresses_[node]);
  if (Py_TYPE(object)->tp_traverse != nullptr) return;
  const auto* words = reinterpret_cast<const std::uintptr_t*>(object + 1);
  for (std::size_t at = 0; at < (bytes - sizeof(PyObject)) / sizeof(std::uintptr_t); ++at) {
    if (words[at] == 0 || (words[at] & 1) != 0) continue;
    const Node target = index_.find(words[at]);
    if (target == monitor::kNoNode || !held_outside(target)) continue;
    edges.push_back({node, target});
    references_[target] += 1;
  }
}

/// Those that cells made, that no object has as its own, and that may be somebody's.
std::vector<monitor::LargeBlock> HeapSnapshot::without_owner(
    const std::vector<monitor::LargeBlock>& blocks) const {
  std::vector<bool> owned(blocks.size(), false);
  for (Node node = 1; !blocks.empty() && node < addresses_.size(); ++node) {
    if (bytes_[node] < kLeastOwnedBytes) continue;
    const monitor::LargeBlock* block = monitor::block_with(blocks, start_of(node));
    if (block != nullptr) owned[static_cast<std::size_t>(block - blocks.data())] = true;
  }
  Owners living;
  std::vector<monitor::LargeBlock> found;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const bool is_of_cell = blocks[at].cell != 0 && blocks[at].kind == monitor::BlockKind::heap;
    if (!is_of_cell || owned[at]) continue;
    const auto known = known_owners().find(key_of(blocks[at]));
    const bool is_nobodys = known != known_owners().end() && known->second.empty();
    if (known != known_owners().end()) living.insert(*known);
    if (!is_nobodys) found.push_back(blocks[at]);
  }
  known_owners() = std::move(living);
  return found;
}

/// Edges at the ends of rows. They come in the order of the nodes that they start at.
void HeapSnapshot::insert(const std::vector<Edge>& edges) {
  auto& targets = graph_.targets;
  targets.resize(targets.size() + edges.size());
  std::size_t left = edges.size();
  for (Node node = graph_.size(); left > 0 && node-- > 0;) {
    const std::uint64_t start = graph_.first[node], stop = graph_.first[node + 1];
    graph_.first[node + 1] = stop + left;
    std::uint64_t at = stop + left;
    while (left > 0 && edges[left - 1].from == node) targets[--at] = edges[--left].to;
    std::copy_backward(targets.begin() + static_cast<std::ptrdiff_t>(start),
                       targets.begin() + static_cast<std::ptrdiff_t>(stop),
                       targets.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace xleak::facts
