// The graphs of live tensors share most of their nodes: an activation's is a part of its loss's.
#include "kept_by_graphs.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <unordered_map>

#include "census.hpp"
#include "graph_walk.hpp"

namespace xleak::libtorch {
namespace {

using Clock = std::chrono::steady_clock;

/// The nodes that keep something, or join what does: few of those that a graph has.
struct Part {
  std::vector<StorageFacts> storages;
  std::vector<const Part*> next;
};

/// Reads each node once, whichever graph has it.
class Parts {
 public:
  explicit Parts(Clock::time_point deadline) : deadline_(deadline) {}

  /// Null where the graph keeps nothing.
  const Part* of(const NodePointer& start) {
    if (!start) return nullptr;
    late_ = late_ || !for_each_node(start, seen_, [this](const auto& node, const Nodes& next) {
              parts_[node.get()] = part_of(node, next);
              return Clock::now() < deadline_;
            });
    return late_ ? nullptr : parts_[start.get()];
  }

  bool late() const { return late_; }

 private:
  const Part* part_of(const NodePointer& node, const Nodes& next) {
    Part part;
    for (const NodePointer& deeper : next) {
      const Part* known = parts_[deeper.get()];
      const bool is_new = std::find(part.next.begin(), part.next.end(), known) == part.next.end();
      if (known != nullptr && is_new) part.next.push_back(known);
    }
    for (const at::Tensor& tensor : saved_by(node).tensors) {
      for (const c10::StorageImpl* storage : storages_of(tensor)) {
        if (auto facts = describe(*storage)) part.storages.push_back(std::move(*facts));
      }
    }
    if (part.storages.empty() && part.next.empty()) return nullptr;
    if (part.storages.empty() && part.next.size() == 1) return part.next[0];
    return &all_.emplace_back(std::move(part));
  }

  Clock::time_point deadline_;
  bool late_ = false;
  std::unordered_set<const Node*> seen_;
  std::unordered_map<const Node*, const Part*> parts_;
  std::deque<Part> all_;
};

/// The storages that a part leads to, each once.
std::vector<const StorageFacts*> storages_below(const Part* top) {
  std::vector<const StorageFacts*> found;
  std::unordered_set<const Part*> seen{top};
  std::unordered_set<std::uintptr_t> keys;
  std::vector<const Part*> pending{top};
  while (!pending.empty()) {
    const Part& part = *pending.back();
    pending.pop_back();
    for (const StorageFacts& storage : part.storages) {
      if (keys.insert(storage.key).second) found.push_back(&storage);
    }
    for (const Part* next : part.next) {
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  return found;
}

}  // namespace

std::vector<KeptStorage> kept_by_graphs(double limit_ms) {
  const auto limit = std::chrono::duration<double, std::milli>(limit_ms);
  Parts parts(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit));
  std::vector<KeptStorage> kept;
  for_each_tensor([&](PyObject* object, const at::Tensor& tensor) {
    const Part* part = parts.late() ? nullptr : parts.of(node_of(tensor));
    if (part == nullptr) return;
    for (const StorageFacts* storage : storages_below(part)) {
      kept.push_back({reinterpret_cast<std::uintptr_t>(object), *storage});
    }
  });
  return kept;
}

}  // namespace xleak::libtorch
