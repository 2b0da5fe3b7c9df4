// What a snapshot tells of who holds what.
#include <algorithm>
#include <iterator>

#include "collector_paused.hpp"
#include "heap_snapshot.hpp"
#include "step_name.hpp"

namespace xleak::facts {
namespace {

// Of a way that somebody would type; lists may be nested without end.
constexpr int kMostSteps = 32;
const std::string kOutside = "native code or a running function";
// Who holds a smaller part of something does not matter to whoever wants its memory back.
constexpr std::int64_t kPartBytes = 64 << 10;

/// What a dictionary has under one of its own keys, now. A key that is no text is found by
/// identity: a lookup would ask it for its hash.
PyObject* value_of_own_key(PyObject* dict, PyObject* key) {
  if (PyUnicode_CheckExact(key)) {
    PyObject* value = PyDict_GetItemWithError(dict, key);
    if (value == nullptr) PyErr_Clear();
    return value;
  }
  Py_ssize_t position = 0;
  PyObject* own = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &own, &value)) {
    if (own == key) return value;
  }
  return nullptr;
}

}  // namespace

std::optional<HeapSnapshot::Node> HeapSnapshot::label_node(const std::string& label) const {
  const auto found = label_nodes_.find(label);
  if (found == label_nodes_.end()) return std::nullopt;
  return found->second;
}

/// The first node that a label leads to.
std::optional<HeapSnapshot::Node> HeapSnapshot::value_node(const std::string& label) const {
  const auto node = label_node(label);
  if (!node || graph_.first[*node] == graph_.first[*node + 1]) return std::nullopt;
  return graph_.targets[graph_.first[*node]];
}

std::int64_t HeapSnapshot::retained_bytes(const std::string& label) const {
  const auto node = label_node(label);
  return node ? retained_[*node] : 0;
}

std::int64_t HeapSnapshot::own_bytes(const std::string& label) const {
  const auto value = value_node(label);
  return value ? own_bytes(*value, nullptr) : 0;
}

/// The memory behind an array, a tensor or an Arrow object.
std::vector<HeapSnapshot::Node> HeapSnapshot::own_memory(Node node) const {
  const auto storage = storages_.find(node);
  if (storage != storages_.end()) return {storage->second};
  std::vector<Node> memory;
  for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
    if (is_memory(graph_.targets[edge])) memory.push_back(graph_.targets[edge]);
  }
  return memory;
}

/// With its memory; only what is in `among`.
std::int64_t HeapSnapshot::own_bytes(Node node, const monitor::Marks* among) const {
  std::int64_t sum = bytes_[node];
  for (const Node memory : own_memory(node)) {
    if (among == nullptr || (*among)[memory]) sum += bytes_[memory];
  }
  return sum;
}

std::optional<std::int64_t> HeapSnapshot::reachable_bytes(const std::string& label,
                                                          std::size_t most) const {
  const auto node = label_node(label);
  if (!node) return 0;
  monitor::Marks avoided(graph_.size(), false);
  for (const Node common : common_) avoided[common] = true;
  return monitor::reachable_bytes(graph_, *node, bytes_, avoided, most);
}

std::map<std::string, std::int64_t> HeapSnapshot::retained_by_device(
    const std::string& label) const {
  std::map<std::string, std::int64_t> result;
  const auto top = label_node(label);
  for (const auto& [storage, device] : devices_) {
    if (top && dominates(*top, storage)) result[device] += bytes_[storage];
  }
  return result;
}

std::vector<std::string> HeapSnapshot::other_ways(const std::string& label,
                                                  std::size_t most) const {
  const auto value = value_node(label);
  return value ? ways_besides(*value, {label}, most) : std::vector<std::string>{};
}

std::vector<std::string> HeapSnapshot::ways_besides(PyObject* object,
                                                    const std::vector<std::string>& without,
                                                    std::size_t most) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  if (node == monitor::kNoNode) return {};
  return ways_besides(node, without, most);
}

std::vector<HeapSnapshot::Node> HeapSnapshot::label_nodes(
    const std::vector<std::string>& labels) const {
  std::vector<Node> nodes;
  for (const std::string& label : labels) {
    if (const auto node = label_node(label)) nodes.push_back(*node);
  }
  return nodes;
}

std::vector<std::string> HeapSnapshot::ways_besides(Node value,
                                                    const std::vector<std::string>& without,
                                                    std::size_t most) const {
  auto avoided = label_nodes(without);
  avoided.push_back(value);
  const auto any = monitor::shortest_ways(graph_, 0, avoided, nullptr);
  avoided.push_back(outside_);
  const auto named = monitor::shortest_ways(graph_, 0, avoided, nullptr);
  monitor::Marks memory(graph_.size(), false);
  for (const Node own : own_memory(value)) memory[own] = true;
  std::vector<std::vector<Node>> ways;
  bool outside = false;
  for (Node node = 1; node < graph_.size(); ++node) {
    if (node == value || (*any)[node] == monitor::kNoNode) continue;
    const bool whole = refers(node, value);
    if (!whole && !refers_to_any(node, memory)) continue;
    auto way = monitor::way_to(*named, 0, node);
    outside = outside || way.empty();
    if (way.empty()) continue;
    if (whole) way.push_back(value);
    ways.push_back(std::move(way));
  }
  std::stable_sort(ways.begin(), ways.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> texts;
  for (const auto& way : ways) {
    if (texts.size() == most) return texts;
    const std::string text = describe(way);
    const bool known = std::find(texts.begin(), texts.end(), text) != texts.end();
    if (!text.empty() && !known) texts.push_back(text);
  }
  if (outside && texts.size() < most) texts.push_back(kOutside);
  return texts;
}

/// For each holder the way to the largest part that it reaches, largest first.
std::vector<std::string> HeapSnapshot::ways_to_parts(PyObject* object,
                                                     const std::vector<std::string>& without,
                                                     std::size_t most) const {
  const Node top = index_.find(reinterpret_cast<std::uintptr_t>(object));
  if (top == monitor::kNoNode) return {};
  auto avoided = label_nodes(without);
  avoided.push_back(outside_);
  const auto named = monitor::shortest_ways(graph_, 0, avoided, nullptr);
  const auto inside = monitor::shortest_ways(graph_, top, common_, nullptr);
  std::map<Node, std::vector<Node>> ways;  // By holder.
  for (Node node = 1; node < graph_.size(); ++node) {
    if ((*inside)[node] == monitor::kNoNode || bytes_[node] < kPartBytes) continue;
    auto way = monitor::way_to(*named, 0, node);
    if (way.empty()) continue;
    auto& known = ways[way[1]];
    if (known.empty() || bytes_[known.back()] < bytes_[node]) known = std::move(way);
  }
  std::vector<std::vector<Node>> sorted;
  for (auto& [holder, way] : ways) sorted.push_back(std::move(way));
  std::stable_sort(sorted.begin(), sorted.end(), [this](const auto& a, const auto& b) {
    return bytes_[a.back()] > bytes_[b.back()];
  });
  std::vector<std::string> texts;
  for (const auto& way : sorted) {
    const std::string text = describe(way);
    if (!text.empty() && texts.size() < most) texts.push_back(text);
  }
  return texts;
}

bool HeapSnapshot::refers(Node from, Node to) const {
  const auto row = graph_.targets.begin();
  const auto end = row + static_cast<std::ptrdiff_t>(graph_.first[from + 1]);
  return std::find(row + static_cast<std::ptrdiff_t>(graph_.first[from]), end, to) != end;
}

/// Of memory: another view of it, or a graph that has saved it.
bool HeapSnapshot::refers_to_any(Node from, const monitor::Marks& wanted) const {
  for (auto edge = graph_.first[from]; edge < graph_.first[from + 1]; ++edge) {
    if (wanted[graph_.targets[edge]]) return true;
  }
  return false;
}

std::string HeapSnapshot::way_to(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  if (node == monitor::kNoNode) return "";
  const auto way = monitor::way_to(before_, 0, node);
  const bool reached = tree_.dominator[node] != monitor::kNoNode;
  return way.empty() && reached ? kOutside : describe(way);
}

bool HeapSnapshot::is_reached(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  return node != monitor::kNoNode && before_[node] != monitor::kNoNode;
}

std::vector<PyObject*> HeapSnapshot::only_in_graphs(const std::vector<PyObject*>& tensors) const {
  monitor::Marks referred(graph_.size(), false);
  for (Node node = 1; node < graph_.size(); ++node) {
    if (node == outside_ || storages_.count(node) != 0) continue;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge)
      referred[graph_.targets[edge]] = true;
  }
  std::vector<PyObject*> found;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(found), [&](PyObject* it) {
    const Node node = index_.find(reinterpret_cast<std::uintptr_t>(it));
    return node != monitor::kNoNode && !referred[node];
  });
  return found;
}

std::int64_t HeapSnapshot::retained_bytes(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  return node == monitor::kNoNode ? 0 : retained_[node];
}

std::vector<HeapSnapshot::Container> HeapSnapshot::containers(std::int64_t least,
                                                              std::size_t most) const {
  std::vector<std::pair<std::int64_t, Node>> large;
  for (const Node node : containers_) {
    if (retained_[node] >= least && is_near_a_name(node))
      large.emplace_back(-retained_[node], node);
  }
  std::sort(large.begin(), large.end());
  large.resize(std::min(large.size(), most));
  std::vector<Container> result;
  for (const auto& [kept, node] : large) {
    Container found{nullptr, "", -kept, {}};
    found.way = describe(monitor::way_to(before_, 0, node), &found.way_there);
    if (found.way.empty()) continue;
    found.object = found.way_there.back();
    found.way_there.pop_back();
    result.push_back(std::move(found));
  }
  return result;
}

/// Whether few steps lead there from a name, more than the name itself.
bool HeapSnapshot::is_near_a_name(Node node) const {
  Node at = node;
  for (int step = 0; step < kMostSteps && at > last_name_; ++step) {
    at = before_[at];
    if (at == monitor::kNoNode) return false;
  }
  return at != 0 && at <= last_name_;
}

bool HeapSnapshot::dominates(Node holder, Node node) const {
  while (node != monitor::kNoNode && node != holder) node = tree_.dominator[node];
  return node == holder;
}

bool HeapSnapshot::keeps(PyObject* holder, PyObject* object) const {
  const Node top = index_.find(reinterpret_cast<std::uintptr_t>(holder));
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  return top != monitor::kNoNode && node != monitor::kNoNode && dominates(top, node);
}

/// Those that were there when the heap was read.
std::vector<HeapSnapshot::Node> HeapSnapshot::nodes_of(
    const std::vector<PyObject*>& objects) const {
  std::vector<Node> nodes;
  for (PyObject* object : objects) {
    const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
    if (node != monitor::kNoNode) nodes.push_back(node);
  }
  return nodes;
}

std::vector<PyObject*> HeapSnapshot::kept_by(const std::vector<std::string>& labels,
                                             const std::vector<PyObject*>& objects) const {
  const auto others = *monitor::shortest_ways(graph_, 0, label_nodes(labels), nullptr);
  std::vector<PyObject*> kept;
  std::copy_if(objects.begin(), objects.end(), std::back_inserter(kept), [&](PyObject* it) {
    const Node node = index_.find(reinterpret_cast<std::uintptr_t>(it));
    const bool reached = node != monitor::kNoNode && tree_.dominator[node] != monitor::kNoNode;
    return reached && others[node] == monitor::kNoNode;
  });
  return kept;
}

std::vector<PyObject*> HeapSnapshot::led_to(const std::vector<PyObject*>& starts,
                                            const std::vector<PyObject*>& wanted) const {
  monitor::Marks seen(graph_.size(), false);
  for (const Node node : common_) seen[node] = true;
  const std::vector<Node> first = nodes_of(starts);
  monitor::LargeVector<Node> waiting(first.begin(), first.end());
  for (const Node node : waiting) seen[node] = true;
  monitor::Marks led(graph_.size(), false);
  while (!waiting.empty()) {
    const Node node = waiting.back();
    waiting.pop_back();
    led[node] = true;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
      const Node target = graph_.targets[edge];
      if (!seen[target]) waiting.push_back(target);
      seen[target] = true;
    }
  }
  std::vector<PyObject*> found;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(found), [&](PyObject* it) {
    const Node node = index_.find(reinterpret_cast<std::uintptr_t>(it));
    return node != monitor::kNoNode && led[node];
  });
  return found;
}

std::vector<std::pair<std::string, std::int64_t>> HeapSnapshot::largest(const std::string& label,
                                                                        std::size_t most) const {
  const auto top = label_node(label);
  if (!top) return {};
  monitor::Marks below(graph_.size(), false);
  below[*top] = true;
  for (const Node node : tree_.order) below[node] = below[node] || below_dominator(node, below);
  std::vector<std::pair<std::int64_t, Node>> found;
  for (const Node node : tree_.order) {
    if (!below[node] || node == *top || is_memory(node)) continue;
    found.emplace_back(own_bytes(node, &below), node);
  }
  const auto kept = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  found.resize(kept);
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (const auto& [bytes, node] : found) {
    const std::string text = describe(monitor::way_to(before_, 0, node));
    if (!text.empty()) result.emplace_back(text, bytes);
  }
  return result;
}

bool HeapSnapshot::below_dominator(Node node, const monitor::Marks& below) const {
  return tree_.dominator[node] != monitor::kNoNode && below[tree_.dominator[node]];
}

/// The value that a label leads to now, where it is still the one of `node`.
PyObject* HeapSnapshot::live_value(Node label, Node node) const {
  for (const NamedSlot& slot : slots_) {
    if (label_nodes_.at(slot.label) != label) continue;
    PyObject* value = value_of_own_key(slot.dict.get(), slot.key.get());
    if (reinterpret_cast<std::uintptr_t>(value) == addresses_[node]) return value;
  }
  for (const NamedRoot& root : roots_) {
    if (label_nodes_.at(root.label) != label) continue;
    if (reinterpret_cast<std::uintptr_t>(root.object.get()) == addresses_[node])
      return root.object.get();
  }
  return nullptr;
}

/// Each object is read only once the one before it, which is alive, was seen to refer to it. The
/// names that are made must not set the collector off between the two.
std::string HeapSnapshot::describe(const std::vector<Node>& way,
                                   std::vector<PyObject*>* passed) const {
  if (way.size() < 2) return "";
  const CollectorPaused paused;
  const std::string& label = labels_[way[1] - 1];
  if (way.size() == 2) return label;
  PyObject* object = live_value(way[1], way[2]);
  if (object == nullptr) return "";
  if (passed != nullptr) passed->push_back(object);
  std::string text = label;
  for (std::size_t i = 3; i < way.size() && !is_memory(way[i]); ++i) {
    auto* next = reinterpret_cast<PyObject*>(addresses_[way[i]]);
    const std::string step = step_name(object, next);
    if (step.empty()) return "";
    text += step;
    object = next;
    if (passed != nullptr) passed->push_back(object);
  }
  return shortened(text);
}

}  // namespace xleak::facts
