#pragma once
#include <Python.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "known_types.hpp"
#include "torch_facts.hpp"

namespace xleak::facts {

using Pointers = std::unordered_set<PyObject*>;

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
  Closure(KnownTypes& types, TorchFacts& torch, const Pointers& barriers);
  ~Closure();
  Closure(const Closure&) = delete;
  Closure& operator=(const Closure&) = delete;

  /// Follows `object`. False: there was no memory, and the closure is of no use any more.
  bool add_root(PyObject* object);

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static int visit(PyObject* target, void* self);
  void add_edge(PyObject* target);
  void add_hidden_edges();
  void add_node(PyObject* object, Kind kind);
  bool is_barrier(PyObject* object, Kind kind) const;

  KnownTypes& types_;
  TorchFacts& torch_;
  const Pointers& barriers_;
  std::vector<Node> nodes_;
  Pointers known_;
  std::size_t current_ = 0;
  bool failed_ = false;
};

}  // namespace xleak::facts
