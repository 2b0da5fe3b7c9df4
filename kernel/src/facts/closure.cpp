#include "closure.hpp"

#include "reference.hpp"

namespace xleak::facts {
namespace {

// The limits are asked this often: some 10 microseconds of work.
constexpr std::size_t kStepsBetweenLooks = 256;

}  // namespace

bool Limits::reached() const { return late() || (interrupted && interrupted()); }

bool Limits::late() const { return deadline && Clock::now() >= *deadline; }

Closure::Closure(KnownTypes& types, TorchFacts& torch, const Pointers& barriers,
                 const Limits& limits)
    : types_(types), torch_(torch), barriers_(barriers), limits_(limits) {}

Closure::~Closure() {
  for (const Node& node : nodes_) Py_DECREF(node.object);
}

bool Closure::add_root(PyObject* object, std::uint32_t root) {
  root_ = root;
  const Kind kind = types_.kind_of(Py_TYPE(object));
  if (is_barrier(object, kind)) return true;
  if (contains(object)) sharing_.insert(root);
  if (!contains(object)) add_node(object, kind);
  for (; current_ < nodes_.size(); ++current_) {
    step();
    nodes_[current_].first_edge = static_cast<std::uint32_t>(edges_.size());
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
    closure->step();
    closure->add_edge(target);
    return closure->failed_ ? -1 : 0;
  } catch (...) {
    closure->failed_ = true;
    return -1;
  }
}

/// One list may have millions of items, so the limits are asked within it too.
void Closure::step() {
  if (++steps_ % kStepsBetweenLooks == 0 && limits_.reached()) failed_ = true;
}

bool Closure::is_barrier(PyObject* object, Kind kind) const {
  if (kind == Kind::barrier || object == Py_None) return true;
  if (barriers_.count(object) != 0) return true;
  return kind == Kind::dict && is_module_dict(object);
}

void Closure::add_edge(PyObject* target) {
  if (target == nullptr || target == Py_None) return;
  const Kind kind = types_.kind_of(Py_TYPE(target));
  // A frame leads to its caller, and so to the whole kernel.
  if (kind == Kind::frame && nodes_[current_].kind == Kind::frame) return;
  if (Py_REFCNT(target) == 1 && Py_TYPE(target)->tp_traverse == nullptr &&
      (kind == Kind::plain || kind == Kind::text || kind == Kind::sized)) {
    types_.add_own_bytes(target, kind, nodes_[current_].leaves);
    return;
  }
  if (is_barrier(target, kind)) return;
  auto found = index_.find(target);
  if (found == index_.end()) {
    add_node(target, kind);
    found = index_.find(target);
  }
  note_sharing(nodes_[found->second]);
  nodes_[found->second].inside += 1;
  edges_.push_back(found->second);
}

void Closure::note_sharing(const Node& node) {
  if (node.root == root_) return;
  const bool leaf = Py_TYPE(node.object)->tp_traverse == nullptr && node.kind <= Kind::sized;
  if (!leaf) {
    sharing_.insert(root_);
    return;
  }
  PythonBytes own;
  types_.add_own_bytes(node.object, node.kind, own);
  shared_leaf_bytes_[root_] += own.total();
}

std::int64_t Closure::shared_leaf_bytes(std::uint32_t root) const {
  const auto found = shared_leaf_bytes_.find(root);
  return found == shared_leaf_bytes_.end() ? 0 : found->second;
}

void Closure::add_node(PyObject* object, Kind kind) {
  index_.emplace(object, static_cast<std::uint32_t>(nodes_.size()));
  Node node;
  node.object = Py_NewRef(object);
  node.root = root_;
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
    for (std::int64_t i = 0, count = array->item_count(); i < count && !failed_; ++i) {
      step();
      add_edge(items[i]);
    }
  } else if (nodes_[current_].kind == Kind::tensor) {
    add_edge(torch_.base_of(object).get());
    add_edge(torch_.gradient_of(object).get());
  }
}

long Closure::references_from_elsewhere(const Node& node, const CacheReferences& caches) const {
  const auto cached = caches.find(node.object);
  long count = static_cast<long>(Py_REFCNT(node.object)) - 1 - static_cast<long>(node.inside);
  if (cached != caches.end()) count -= cached->second;
  if (node.kind == Kind::tensor) count += torch_.references_from_cpp(node.object);
  return count;
}

void Closure::mark_held(const CacheReferences& caches) {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (references_from_elsewhere(nodes_[i], caches) > 0) hold(i);
  }
}

void Closure::hold(std::uint32_t start) {
  std::vector<std::uint32_t> pending{start};
  while (!pending.empty()) {
    const std::uint32_t at = pending.back();
    pending.pop_back();
    if (nodes_[at].held) continue;
    nodes_[at].held = true;
    const std::size_t last = at + 1 < nodes_.size() ? nodes_[at + 1].first_edge : edges_.size();
    for (std::size_t edge = nodes_[at].first_edge; edge < last; ++edge)
      pending.push_back(edges_[edge]);
  }
}

}  // namespace xleak::facts
