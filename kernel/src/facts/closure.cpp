#include "closure.hpp"

#include "reference.hpp"

namespace xleak::facts {

Closure::Closure(KnownTypes& types, TorchFacts& torch, const Pointers& barriers)
    : types_(types), torch_(torch), barriers_(barriers) {}

Closure::~Closure() {
  for (const Node& node : nodes_) Py_DECREF(node.object);
}

bool Closure::add_root(PyObject* object) {
  const Kind kind = types_.kind_of(Py_TYPE(object));
  if (is_barrier(object, kind)) return true;
  add_node(object, kind);
  for (; current_ < nodes_.size(); ++current_) {
    PyObject* reached = nodes_[current_].object;
    const auto traverse = Py_TYPE(reached)->tp_traverse;
    if (traverse != nullptr && PyType_IS_GC(Py_TYPE(reached))) traverse(reached, visit, this);
    add_hidden_edges();
    if (failed_) return false;
  }
  return true;
}

int Closure::visit(PyObject* target, void* self) {
  auto* closure = static_cast<Closure*>(self);
  // The caller is C code, which an exception must not cross.
  try {
    closure->add_edge(target);
    return closure->failed_ ? -1 : 0;
  } catch (...) {
    closure->failed_ = true;
    return -1;
  }
}

bool Closure::is_barrier(PyObject* object, Kind kind) const {
  if (kind == Kind::barrier || object == Py_None) return true;
  if (barriers_.count(object) != 0) return true;
  return kind == Kind::dict && is_module_dict(object);
}

void Closure::add_edge(PyObject* target) {
  if (target == nullptr || target == Py_None || !is_in_use(target)) return;
  const Kind kind = types_.kind_of(Py_TYPE(target));
  // A frame leads to its caller, and so to the whole kernel.
  if (kind == Kind::frame && nodes_[current_].kind == Kind::frame) return;
  if (Py_REFCNT(target) == 1 && Py_TYPE(target)->tp_traverse == nullptr &&
      (kind == Kind::plain || kind == Kind::text || kind == Kind::sized)) {
    types_.add_own_bytes(target, kind, nodes_[current_].leaves);
    return;
  }
  if (is_barrier(target, kind)) return;
  add_node(target, kind);
}

void Closure::add_node(PyObject* object, Kind kind) {
  if (!known_.insert(object).second) return;
  Node node;
  node.object = Py_NewRef(object);
  node.kind = kind;
  nodes_.push_back(std::move(node));
}

void Closure::add_hidden_edges() {
  PyObject* object = nodes_[current_].object;
  if (nodes_[current_].kind == Kind::ndarray) {
    const auto* array = reinterpret_cast<ArrayFields*>(object);
    add_edge(array->base);
    if (!array->owns_data() || !array->holds_objects()) return;
    auto** items = reinterpret_cast<PyObject**>(array->data);
    for (std::int64_t i = 0, count = array->item_count(); i < count && !failed_; ++i)
      add_edge(items[i]);
  } else if (nodes_[current_].kind == Kind::tensor) {
    add_edge(torch_.base_of(object).get());
    add_edge(torch_.gradient_of(object).get());
  }
}

}  // namespace xleak::facts
