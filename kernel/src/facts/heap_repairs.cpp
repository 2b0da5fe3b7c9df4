// What a snapshot tells of values that keep more than they show, and of what a repair would free.
#include <algorithm>
#include <set>

#include "heap_snapshot.hpp"

namespace xleak::facts {

std::vector<HeapSnapshot::GraphBytes> HeapSnapshot::graphs(std::int64_t least, bool shared,
                                                           bool together) const {
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
  if (found.empty()) return result;
  const auto containers = containers_of_tensors();
  const auto holder_of = [&](Node node) {
    const auto container = containers.find(node);
    return container == containers.end() ? before_[node] : container->second;
  };
  std::unordered_map<Node, std::int64_t> by_holder;
  for (const auto& [tensor, graph] : found)
    if (together) by_holder[holder_of(index_.find(tensor))] += graph.kept;
  for (auto& [tensor, graph] : found) {
    const Node node = index_.find(tensor);
    const Node holder = holder_of(node);
    if (std::max(graph.kept, by_holder[holder]) < least) continue;
    graph.tensor = tensor;
    for (const Node memory : own_memory(node)) graph.own += bytes_[memory];
    const bool is_nearest = holder == before_[node];
    auto way = monitor::way_to(before_, 0, is_nearest ? node : holder);
    if (!is_nearest) way.push_back(node);
    graph.way = describe(way);
    if (!graph.way.empty()) result.push_back(std::move(graph));
  }
  return result;
}

/// By tensor to which the graph of another one is the shortest way: a container that has it, as a
/// deque has the states before the last.
std::unordered_map<HeapSnapshot::Node, HeapSnapshot::Node> HeapSnapshot::containers_of_tensors()
    const {
  std::unordered_map<Node, Node> found;
  for (const Node container : open_containers_) {
    if (before_[container] == monitor::kNoNode) continue;
    for (auto edge = graph_.first[container]; edge < graph_.first[container + 1]; ++edge) {
      const Node tensor = graph_.targets[edge];
      if (storages_.count(tensor) != 0 && storages_.count(before_[tensor]) != 0)
        found.emplace(tensor, container);
    }
  }
  return found;
}

/// What is behind a view, where it shows so little of it that it may be pinned; 0 elsewhere.
std::int64_t HeapSnapshot::behind(const View& view, std::int64_t fraction) const {
  const Node memory = index_.find(view.behind);
  if (memory == monitor::kNoNode) return 0;
  // Native code holds it: no copy would free it.
  const Node holder = tree_.dominator[memory];
  if (holder == monitor::kNoNode || holder == outside_) return 0;
  const std::int64_t bytes = own_bytes(memory, nullptr);
  return view.shown * fraction <= bytes ? bytes : 0;
}

/// What of the memory behind some views other objects refer to than these views.
monitor::Marks HeapSnapshot::held_otherwise(const std::vector<View>& views) const {
  monitor::Marks wanted(graph_.size(), false);
  monitor::Marks is_view(graph_.size(), false);
  for (const View& view : views) {
    wanted[index_.find(view.behind)] = true;
    is_view[view.node] = true;
  }
  // Between a view and what it was made over stand arrays and buffers of the same memory alone.
  monitor::Marks held(graph_.size(), false);
  for (Node node = 0; node < graph_.size(); ++node) {
    if (is_view[node]) continue;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
      const Node target = graph_.targets[edge];
      if (wanted[target] && tree_.dominator[target] == 0) held[target] = true;
    }
  }
  return held;
}

std::vector<HeapSnapshot::PinnedView> HeapSnapshot::pinned_views(std::int64_t least,
                                                                 std::int64_t fraction) const {
  std::unordered_map<std::uintptr_t, std::int64_t> shown;
  std::vector<View> small;
  for (const View& view : views_) {
    if (behind(view, fraction) == 0) continue;
    shown[view.behind] += view.shown;
    small.push_back(view);
  }
  const monitor::Marks held = held_otherwise(small);
  monitor::Marks is_data(graph_.size(), false);
  for (const Node node : data_) is_data[node] = true;
  std::vector<PinnedView> result;
  for (const View& view : small) {
    const Node memory = index_.find(view.behind);
    const std::int64_t bytes = own_bytes(memory, nullptr);
    // A list of all rows shows the whole, each of them little.
    if (bytes < least || held[memory] || shown[view.behind] * fraction > bytes) continue;
    if (auto found = pinned_by(view, bytes, is_data)) result.push_back(std::move(*found));
  }
  return result;
}

/// A view as its user knows it: the table or series that it is a part of, or the view itself.
std::optional<HeapSnapshot::PinnedView> HeapSnapshot::pinned_by(
    const View& view, std::int64_t bytes, const monitor::Marks& is_data) const {
  auto way = monitor::way_to(before_, 0, view.node);
  std::vector<PyObject*> passed;
  if (describe(way, &passed).empty()) return std::nullopt;
  const auto owner =
      std::find_if(way.begin() + 2, way.end(), [&](Node node) { return is_data[node]; });
  if (owner == way.end()) return std::nullopt;
  // A copy of a table has the index of the table.
  PyTypeObject* index = imported_type("pandas", "Index");
  for (auto at = passed.begin() + (owner - way.begin()) - 1; index != nullptr && at < passed.end();
       ++at)
    if (PyObject_TypeCheck(*at, index)) return std::nullopt;
  way.erase(owner + 1, way.end());
  return PinnedView{addresses_[way.back()], describe(way), view.shown, bytes, view.behind};
}

std::vector<HeapSnapshot::Node> HeapSnapshot::nodes_at(
    const std::vector<std::uintptr_t>& addresses) const {
  std::vector<Node> nodes;
  for (const std::uintptr_t address : addresses) {
    const Node node = index_.find(address);
    if (node != monitor::kNoNode) nodes.push_back(node);
  }
  return nodes;
}

/// What would be left if each object were replaced, by node.
monitor::Marks HeapSnapshot::left_after_replacing(const std::vector<std::uintptr_t>& objects,
                                                  Replacement by, Where where) {
  auto& targets = graph_.targets;
  monitor::Marks wanted(graph_.size(), false);
  std::vector<Node> holders;
  for (const Node node : nodes_at(objects)) {
    wanted[node] = true;
    if (before_[node] != monitor::kNoNode) holders.push_back(before_[node]);
  }
  if (where == Where::everywhere) {
    for (Node label = 1; label <= labels_.size(); ++label) holders.push_back(label);
    holders.insert(holders.end(), open_containers_.begin(), open_containers_.end());
  }
  std::vector<std::pair<std::uint64_t, Node>> replaced;
  for (const Node holder : std::set(holders.begin(), holders.end())) {
    std::set<Node> done;
    for (auto edge = graph_.first[holder]; edge < graph_.first[holder + 1]; ++edge) {
      const Node node = targets[edge];
      if (!wanted[node]) continue;
      if (where == Where::first && (before_[node] != holder || !done.insert(node).second)) continue;
      const auto memory = storages_.find(node);
      const bool has_memory = by == Replacement::detached && memory != storages_.end();
      replaced.emplace_back(edge, node);
      targets[edge] = has_memory ? memory->second : holder;
    }
  }
  monitor::Marks left = left_after({}, {});
  for (const auto& [edge, node] : replaced) targets[edge] = node;
  return left;
}

std::int64_t HeapSnapshot::freed_by_replacing(const std::vector<std::uintptr_t>& objects,
                                              Replacement by, Where where) {
  const monitor::Marks left = left_after_replacing(objects, by, where);
  std::int64_t sum = retained_[0];
  for (Node node = 0; node < graph_.size(); ++node) sum -= left[node] ? bytes_[node] : 0;
  return sum;
}

std::int64_t HeapSnapshot::freed_behind(const std::vector<std::uintptr_t>& objects,
                                        const std::vector<std::uintptr_t>& memory) {
  const monitor::Marks left = left_after_replacing(objects, Replacement::copied, Where::first);
  std::int64_t sum = 0;
  const std::vector<Node> nodes = nodes_at(memory);
  const std::set<Node> wanted(nodes.begin(), nodes.end());
  for (const Node node : wanted) {
    // An array may have been made over a tensor, which is a view itself.
    Node above = tree_.dominator[node];
    while (above != monitor::kNoNode && wanted.count(above) == 0) above = tree_.dominator[above];
    if (above == monitor::kNoNode && !left[node]) sum += retained_[node];
  }
  return sum;
}

std::int64_t HeapSnapshot::freed_without(const std::vector<PyObject*>& objects) const {
  monitor::Marks gone(graph_.size(), false);
  for (const Node node : nodes_of(objects)) gone[node] = true;
  return retained_[0] -
         *monitor::reachable_bytes(graph_, 0, bytes_, std::move(gone), graph_.targets.size());
}

std::size_t HeapSnapshot::holders_of(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  const auto& targets = graph_.targets;
  return static_cast<std::size_t>(std::count(targets.begin(), targets.end(), node));
}

}  // namespace xleak::facts
