#pragma once
#include <Python.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "known_types.hpp"
#include "torch_facts.hpp"

namespace xleak::facts {

/// The processor time of the calling thread: a limit means the same on a loaded machine.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ThreadClock, duration>;
  static time_point now() noexcept;
};

using Pointers = std::unordered_set<PyObject*>;

/// When to give up. The thread that works is the one that made the deadline.
struct Limits {
  std::optional<ThreadClock::time_point> deadline;
  std::function<bool()> interrupted;
  bool reached() const;
  /// The same without asking `interrupted`, which may let other threads run.
  bool late() const;
};

/// One object that was reached.
struct Node {
  PyObject* object;
  Kind kind = Kind::plain;
  PythonBytes leaves;  ///< Small objects that only this one refers to.
};

/// Everything that an object reaches, by tp_traverse and by the edges that it does not show.
/// Runs no code of the objects. Holds one reference to each until it goes.
class Closure {
 public:
  Closure(KnownTypes& types, TorchFacts& torch, const Pointers& barriers, const Limits& limits);
  ~Closure();
  Closure(const Closure&) = delete;
  Closure& operator=(const Closure&) = delete;

  /// Follows `object`. False: a limit was reached, and the closure is of no use any more.
  bool add_root(PyObject* object);

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static int visit(PyObject* target, void* self);
  void step();
  void add_edge(PyObject* target);
  void add_hidden_edges();
  void add_node(PyObject* object, Kind kind);
  bool is_barrier(PyObject* object, Kind kind) const;

  KnownTypes& types_;
  TorchFacts& torch_;
  const Pointers& barriers_;
  const Limits& limits_;
  std::vector<Node> nodes_;
  Pointers known_;
  std::size_t current_ = 0;
  std::size_t steps_ = 0;
  bool failed_ = false;
};

}  // namespace xleak::facts
