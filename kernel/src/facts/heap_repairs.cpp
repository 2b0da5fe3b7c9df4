// What a snapshot tells of values that keep more than they show, and of what a repair would free.
#include <algorithm>

#include "heap_snapshot.hpp"

namespace xleak::facts {

std::vector<HeapSnapshot::GraphBytes> HeapSnapshot::graphs(std::int64_t least, bool shared) const {
  std::unordered_map<std::uintptr_t, GraphBytes> found;
  for (const auto& [tensor, memory] : saved_) {
    const Node node = index_.find(tensor);
    const Node storage = index_.find(memory_address(memory.key));
    if (node == monitor::kNoNode || storage == monitor::kNoNode) continue;
    const auto own = storages_.find(node);
    const bool is_own = own != storages_.end() && own->second == storage;
    if (is_own || !(shared || dominates(node, storage))) continue;
    GraphBytes& graph = found[tensor];
    graph.kept += bytes_[storage];
    graph.storages[memory.key] = bytes_[storage];
  }
  std::vector<GraphBytes> result;
  for (auto& [tensor, graph] : found) {
    if (graph.kept < least) continue;
    const Node node = index_.find(tensor);
    graph.tensor = tensor;
    for (const Node memory : own_memory(node)) graph.own += bytes_[memory];
    graph.way = describe(monitor::way_to(before_, 0, node));
    if (!graph.way.empty()) result.push_back(std::move(graph));
  }
  return result;
}

/// What is behind a view, where it shows so little of it that it may be pinned; 0 elsewhere.
std::int64_t HeapSnapshot::behind(const View& view, std::int64_t fraction) const {
  const Node memory = index_.find(view.behind);
  if (memory == monitor::kNoNode) return 0;
  // Two names or native code hold it: no copy in one place would free it.
  const Node holder = tree_.dominator[memory];
  if (holder == monitor::kNoNode || holder == 0 || holder == outside_) return 0;
  const std::int64_t bytes = own_bytes(memory, nullptr);
  return view.shown * fraction <= bytes ? bytes : 0;
}

std::vector<HeapSnapshot::PinnedView> HeapSnapshot::pinned_views(std::int64_t least,
                                                                 std::int64_t fraction) const {
  std::unordered_map<std::uintptr_t, std::int64_t> shown;
  for (const View& view : views_) {
    if (behind(view, fraction) > 0) shown[view.behind] += view.shown;
  }
  std::vector<PinnedView> result;
  for (const View& view : views_) {
    const std::int64_t bytes = behind(view, fraction);
    // A list of all rows shows the whole, each of them little.
    if (bytes < least || bytes == 0 || shown[view.behind] * fraction > bytes) continue;
    const std::string way = describe(monitor::way_to(before_, 0, view.node));
    if (!way.empty()) result.push_back({addresses_[view.node], way, view.shown, bytes});
  }
  return result;
}

std::int64_t HeapSnapshot::freed_by_replacing(const std::vector<std::uintptr_t>& objects,
                                              Replacement by) {
  auto& targets = graph_.targets;
  std::vector<std::pair<std::uint64_t, Node>> replaced;
  for (const std::uintptr_t object : objects) {
    const Node node = index_.find(object);
    const Node holder = node == monitor::kNoNode ? node : before_[node];
    if (holder == monitor::kNoNode) continue;
    auto edge = graph_.first[holder];
    while (edge < graph_.first[holder + 1] && targets[edge] != node) ++edge;
    if (edge == graph_.first[holder + 1]) continue;
    const auto memory = storages_.find(node);
    const bool has_memory = by == Replacement::detached && memory != storages_.end();
    replaced.emplace_back(edge, node);
    targets[edge] = has_memory ? memory->second : holder;
  }
  const monitor::Marks none(graph_.size(), false);
  const auto left = monitor::reachable_bytes(graph_, 0, bytes_, none, nullptr);
  for (const auto& [edge, node] : replaced) targets[edge] = node;
  return retained_[0] - *left;
}

std::int64_t HeapSnapshot::freed_without(const std::vector<PyObject*>& objects) const {
  monitor::Marks gone(graph_.size(), false);
  for (const Node node : nodes_of(objects)) gone[node] = true;
  return retained_[0] - *monitor::reachable_bytes(graph_, 0, bytes_, std::move(gone), nullptr);
}

std::size_t HeapSnapshot::holders_of(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  const auto& targets = graph_.targets;
  return static_cast<std::size_t>(std::count(targets.begin(), targets.end(), node));
}

}  // namespace xleak::facts
