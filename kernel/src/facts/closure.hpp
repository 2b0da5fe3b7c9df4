#pragma once
#include <Python.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "known_types.hpp"
#include "torch_facts.hpp"

namespace xleak::facts {

using Clock = std::chrono::steady_clock;
using Pointers = std::unordered_set<PyObject*>;

/// How many references the caches of the shell have to an object.
using CacheReferences = std::unordered_map<PyObject*, int>;

/// When to give up.
struct Limits {
  std::optional<Clock::time_point> deadline;
  std::function<bool()> interrupted;
  bool reached() const;
  /// The same without asking `interrupted`, which may let other threads run.
  bool late() const;
};

/// One object that was reached.
struct Node {
  PyObject* object;
  std::uint32_t inside = 0;  ///< References to it from other nodes.
  std::uint32_t first_edge = 0;
  std::uint32_t root = 0;  ///< The first root that reaches it.
  Kind kind = Kind::plain;
  bool held = false;   ///< Something else keeps it alive.
  PythonBytes leaves;  ///< Small objects that only this one refers to.
};

/// Everything that some roots reach, by tp_traverse and by the edges that it does not show.
/// Runs no code of the objects. Holds one reference to each until it goes.
class Closure {
 public:
  Closure(KnownTypes& types, TorchFacts& torch, const Pointers& barriers, const Limits& limits);
  ~Closure();
  Closure(const Closure&) = delete;
  Closure& operator=(const Closure&) = delete;

  /// Follows `object`. False: a limit was reached, and the closure is of no use any more.
  bool add_root(PyObject* object, std::uint32_t root);

  /// Marks what has references from elsewhere, and all that it reaches: the first step of CPython's
  /// cyclic collector (Modules/gcmodule.c, subtract_refs), done on a part of the heap.
  void mark_held(const CacheReferences& caches);
  void hold(std::uint32_t node);

  /// Whether a root reaches what another root reached before it, but for text and numbers.
  bool shares(std::uint32_t root) const { return sharing_.count(root) != 0; }
  /// The bytes of such text and numbers.
  std::int64_t shared_leaf_bytes(std::uint32_t root) const;
  const std::vector<Node>& nodes() const { return nodes_; }
  bool contains(PyObject* object) const { return index_.count(object) != 0; }

 private:
  static int visit(PyObject* target, void* self);
  void step();
  void add_edge(PyObject* target);
  void note_sharing(const Node& node);
  void add_hidden_edges();
  void add_node(PyObject* object, Kind kind);
  bool is_barrier(PyObject* object, Kind kind) const;
  long references_from_elsewhere(const Node& node, const CacheReferences& caches) const;

  KnownTypes& types_;
  TorchFacts& torch_;
  const Pointers& barriers_;
  const Limits& limits_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> edges_;
  std::unordered_map<PyObject*, std::uint32_t> index_;
  std::unordered_set<std::uint32_t> sharing_;
  std::unordered_map<std::uint32_t, std::int64_t> shared_leaf_bytes_;
  std::size_t current_ = 0;
  std::size_t steps_ = 0;
  std::uint32_t root_ = 0;
  bool failed_ = false;
};

}  // namespace xleak::facts
