// What a snapshot tells of garbage that waits for the collector.
#include <algorithm>
#include <iterator>

#include "heap_snapshot.hpp"
#include "step_name.hpp"

namespace xleak::facts {

std::optional<HeapSnapshot::Node> HeapSnapshot::garbage_node(PyObject* object) const {
  const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
  const bool waits = node != monitor::kNoNode && tree_.dominator[node] == monitor::kNoNode;
  return waits ? std::optional(node) : std::nullopt;
}

std::vector<PyObject*> HeapSnapshot::garbage(const std::vector<PyObject*>& objects) const {
  std::vector<PyObject*> found;
  std::copy_if(objects.begin(), objects.end(), std::back_inserter(found),
               [this](PyObject* it) { return garbage_node(it).has_value(); });
  return found;
}

/// Not through types and namespaces, which are cycles of Python's making, nor through frames, which
/// a traceback makes one with.
std::vector<HeapSnapshot::Node> HeapSnapshot::no_link() const {
  std::vector<Node> nodes = common_;
  nodes.insert(nodes.end(), frames_.begin(), frames_.end());
  return nodes;
}

std::vector<HeapSnapshot::Waiting> HeapSnapshot::garbage_cycles(
    const std::vector<PyObject*>& suspects) const {
  std::vector<Node> nodes;
  for (PyObject* suspect : suspects)
    if (const auto node = garbage_node(suspect)) nodes.push_back(*node);
  if (nodes.empty()) return {};
  monitor::Marks garbage(graph_.size(), false);
  for (Node node = 1; node < graph_.size(); ++node)
    garbage[node] = tree_.dominator[node] == monitor::kNoNode;
  for (const Node node : no_link()) garbage[node] = false;
  std::vector<Waiting> waiting;
  const auto cycles = monitor::garbage_cycles(graph_, std::move(garbage), nodes, bytes_, nullptr);
  for (const auto& cycle : *cycles) {
    std::vector<PyObject*> members;
    for (const Node node : cycle.suspects)
      members.push_back(reinterpret_cast<PyObject*>(addresses_[node]));
    waiting.push_back({std::move(members), cycle.bytes});
  }
  return waiting;
}

/// Each object is read only once the one before it, which is alive, was seen to refer to it.
HeapSnapshot::Circle HeapSnapshot::way_around(PyObject* object) const {
  const auto start = garbage_node(object);
  if (!start) return {};
  const auto before = *monitor::shortest_ways(graph_, *start, no_link(), nullptr);
  std::vector<Node> shortest;
  for (Node node = 1; node < graph_.size(); ++node) {
    if (!refers(node, *start)) continue;
    auto way = monitor::way_to(before, *start, node);
    if (!way.empty() && (shortest.empty() || way.size() < shortest.size()))
      shortest = std::move(way);
  }
  if (shortest.empty()) return {};
  shortest.push_back(*start);
  Circle circle;
  for (std::size_t i = 1; i < shortest.size(); ++i) {
    auto* next = reinterpret_cast<PyObject*>(addresses_[shortest[i]]);
    const std::string step = step_name(object, next);
    if (step.empty()) return {};
    circle.text += step;
    circle.objects.push_back(next);
    object = next;
  }
  circle.text = shortened(circle.text);
  return circle;
}

}  // namespace xleak::facts
