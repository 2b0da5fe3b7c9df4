// What a snapshot says is freed once labels and references are gone.
#include <algorithm>
#include <set>

#include "heap_snapshot.hpp"

namespace xleak::facts {

/// By node, whether something still leads to it.
monitor::Marks HeapSnapshot::left_after(const std::vector<Node>& labels,
                                        const std::vector<Link>& links) const {
  std::set<std::pair<Node, Node>> cut;
  for (const auto& [from, to] : links) {
    const auto ends = nodes_of({from, to});
    if (ends.size() == 2) cut.emplace(ends[0], ends[1]);
  }
  monitor::Marks seen(graph_.size(), false);
  for (const Node label : labels) seen[label] = true;
  monitor::LargeVector<Node> pending{0};
  monitor::Marks left(graph_.size(), false);
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    left[node] = true;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
      const Node target = graph_.targets[edge];
      if (seen[target] || (!cut.empty() && cut.count({node, target}) != 0)) continue;
      seen[target] = true;
      pending.push_back(target);
    }
  }
  keep_doubtful(left);
  return left;
}

monitor::Marks HeapSnapshot::freed_nodes(const std::vector<Node>& labels,
                                         const std::vector<Link>& links) const {
  monitor::Marks freed = left_after(labels, links);
  for (Node node = 0; node < graph_.size(); ++node)
    freed[node] = !freed[node] && tree_.dominator[node] != monitor::kNoNode;
  return freed;
}

void HeapSnapshot::add_bytes(Bytes& bytes, Node node) const {
  if (is_memory(node)) {
    const auto owner = owners_.find(node);
    return add(bytes, owner == owners_.end() ? "malloc" : owner->second, bytes_[node]);
  }
  const std::int64_t pooled = pooled_[node];
  add(bytes, PythonBytes{bytes_[node] - pooled, pooled});
}

Bytes HeapSnapshot::bytes_of(const monitor::Marks& nodes) const {
  Bytes bytes;
  for (Node node = 0; node < graph_.size(); ++node) {
    if (nodes[node]) add_bytes(bytes, node);
  }
  return bytes;
}

Bytes HeapSnapshot::freed_by(const std::vector<std::string>& labels,
                             const std::vector<Link>& links) const {
  return bytes_of(freed_nodes(label_nodes(labels), links));
}

/// Frees node by node, each once its last reference is gone. What is left is in a cycle, or garbage
/// refers to it.
bool HeapSnapshot::would_wait(const std::vector<std::string>& labels,
                              const std::vector<Link>& links) const {
  const monitor::Marks left = left_after(label_nodes(labels), links);
  monitor::LargeVector<std::uint32_t> references(graph_.size(), 0);
  // Memory that leads to other memory, as that of Polars, has no reference to it.
  const auto each_target = [this](Node node, auto visit) {
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge)
      if (!is_memory(node) || !is_memory(graph_.targets[edge])) visit(graph_.targets[edge]);
  };
  const auto labels_end = static_cast<Node>(labels_.size());
  for (Node node = labels_end + 1; node < graph_.size(); ++node) {
    if (!left[node]) each_target(node, [&](Node target) { references[target] += 1; });
  }
  monitor::LargeVector<Node> pending;
  for (Node node = labels_end + 1; node < graph_.size(); ++node) {
    const bool freed = !left[node] && tree_.dominator[node] != monitor::kNoNode;
    if (freed && references[node] == 0) pending.push_back(node);
  }
  monitor::Marks gone(graph_.size(), false);
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    gone[node] = true;
    each_target(node, [&](Node target) {
      if (!left[target] && --references[target] == 0) pending.push_back(target);
    });
  }
  for (Node node = labels_end + 1; node < graph_.size(); ++node) {
    const bool freed = !left[node] && tree_.dominator[node] != monitor::kNoNode;
    if (freed && !gone[node] && bytes_[node] > 0) return true;
  }
  return false;
}

Bytes HeapSnapshot::waiting(const std::vector<PyObject*>& without) const {
  monitor::Marks nodes(graph_.size(), false);
  for (Node node = 1; node < graph_.size(); ++node)
    nodes[node] = tree_.dominator[node] == monitor::kNoNode;
  const std::vector<Node> first = nodes_of(without);
  monitor::LargeVector<Node> pending(first.begin(), first.end());
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    if (!nodes[node]) continue;
    nodes[node] = false;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge)
      pending.push_back(graph_.targets[edge]);
  }
  return bytes_of(nodes);
}

/// `visit` marks what it has seen, and returns whether to go on below it.
template <typename Visit>
void HeapSnapshot::each_freed_below(Node label, const monitor::Marks& freed, Visit visit) const {
  monitor::LargeVector<Node> pending{label};
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
      const Node target = graph_.targets[edge];
      if (freed[target] && visit(target)) pending.push_back(target);
    }
  }
}

std::vector<HeapSnapshot::Share> HeapSnapshot::shares(
    const monitor::LargeVector<std::string>& labels, const std::vector<std::string>& others,
    std::int64_t least) const {
  constexpr std::size_t kNobody = SIZE_MAX;
  std::vector<Node> nodes;
  monitor::LargeVector<std::size_t> label_of;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto node = label_node(labels[i]);
    if (!node) continue;
    nodes.push_back(*node);
    label_of.push_back(i);
  }
  auto gone = nodes;
  for (const Node node : label_nodes(others)) gone.push_back(node);
  const monitor::Marks freed = freed_nodes(gone, {});
  std::vector<Share> shares;
  // By node and by label the first of the shares that has it.
  monitor::LargeVector<std::size_t> owner(graph_.size(), kNobody), share_of(nodes.size(), kNobody);
  monitor::Marks is_shared(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::int64_t sum = 0;
    each_freed_below(nodes[i], freed, [&](Node node) {
      if (owner[node] != kNobody) return false;
      owner[node] = i;
      sum += bytes_[node];
      return true;
    });
    if (sum < least) continue;
    share_of[i] = shares.size();
    shares.push_back({label_of[i], {}, {}});
    is_shared[i] = sum - retained_[nodes[i]] >= kSmallBytes;
  }
  for (Node node = 0; node < graph_.size(); ++node) {
    const std::size_t share = owner[node] == kNobody ? kNobody : share_of[owner[node]];
    if (share != kNobody) add_bytes(shares[share].kept, node);
  }
  if (std::find(is_shared.begin(), is_shared.end(), true) == is_shared.end()) return shares;
  monitor::LargeVector<std::size_t> seen_from(graph_.size(), kNobody);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::map<std::size_t, std::int64_t> common;
    each_freed_below(nodes[i], freed, [&](Node node) {
      if (seen_from[node] == i) return false;
      seen_from[node] = i;
      if (owner[node] != i && owner[node] != kNobody) common[owner[node]] += bytes_[node];
      return true;
    });
    for (const auto& [first, bytes] : common) {
      if (is_shared[first] && bytes >= kSmallBytes)
        shares[share_of[first]].with.push_back(label_of[i]);
    }
  }
  return shares;
}

}  // namespace xleak::facts
