// The graphs of live tensors share most of their nodes: an activation's is a part of its loss's.
#include "kept_by_graphs.hpp"

#include <algorithm>
#include <ctime>
#include <deque>
#include <unordered_map>

#include "census.hpp"
#include "graph_walk.hpp"

namespace xleak::libtorch {
namespace {

// Some milliseconds of work.
constexpr std::size_t kNodesBetweenQuestions = 512;

// A list of ever longer sums has as many pairs of a tensor and a storage as the square of its
// length.
constexpr std::size_t kMostRows = 100'000;

/// The processor time of this thread: a limit means the same on a loaded machine.
double thread_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// When to give up.
class Limit {
 public:
  Limit(double limit_ms, const std::function<bool()>& interrupted)
      : deadline_ms_(thread_ms() + limit_ms), interrupted_(interrupted) {}

  bool reached() {
    if (!reached_ && nodes_++ % kNodesBetweenQuestions == 0)
      reached_ = thread_ms() >= deadline_ms_ || (interrupted_ && interrupted_());
    return reached_;
  }

  void stop() { reached_ = true; }
  bool was_reached() const { return reached_; }

 private:
  double deadline_ms_;
  const std::function<bool()>& interrupted_;
  std::size_t nodes_ = 0;
  bool reached_ = false;
};

/// The nodes that keep something, or join what does: few of those that a graph has.
struct Part {
  std::vector<StorageFacts> storages;
  std::vector<const Part*> next;
};

/// Reads each node once, whichever graph has it.
class Parts {
 public:
  /// Null where the graph keeps nothing, or the limit was reached.
  const Part* of(const NodePointer& start, Limit& limit) {
    if (!start || limit.was_reached()) return nullptr;
    const bool complete =
        for_each_node(start, seen_, [&](const NodePointer& node, const Nodes& next) {
          const Part* part = part_of(node, next);
          read_[node.get()] = {node, part};
          return !limit.reached();
        });
    return complete ? read_[start.get()].part : nullptr;
  }

 private:
  const Part* part_of(const NodePointer& node, const Nodes& next) {
    Part part;
    for (const NodePointer& deeper : next) {
      const Part* known = read_[deeper.get()].part;
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

  struct Read {
    NodePointer node;  ///< Kept, so that no other node comes to its address meanwhile.
    const Part* part = nullptr;
  };
  std::unordered_set<const Node*> seen_;
  std::unordered_map<const Node*, Read> read_;
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

KeptByGraphs kept_by_graphs(double limit_ms, const std::function<bool()>& interrupted) {
  std::vector<std::pair<std::uintptr_t, NodePointer>> tensors;
  for_each_tensor([&](PyObject* object, const at::Tensor& tensor) {
    const NodePointer node = node_of(tensor);
    if (node) tensors.emplace_back(reinterpret_cast<std::uintptr_t>(object), node);
  });
  KeptByGraphs kept;
  Limit limit(limit_ms, interrupted);
  Parts parts;
  for (const auto& [tensor, node] : tensors) {
    const Part* part = parts.of(node, limit);
    if (part == nullptr) continue;
    const auto storages = storages_below(part);
    if (kept.rows.size() + storages.size() > kMostRows) limit.stop();
    if (limit.was_reached()) break;
    for (const StorageFacts* storage : storages) kept.rows.push_back({tensor, *storage});
  }
  kept.complete = !limit.was_reached();
  return kept;
}

}  // namespace xleak::libtorch
