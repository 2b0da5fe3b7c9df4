#include "live_objects.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace xleak::facts {
namespace {

// What a slice takes out of a list is copied first: as many as fit into a small block.
constexpr Py_ssize_t kLetGoAtOnce = 1024;

// gc.get_objects as it was when xleak was imported: a program may put another in its place.
PyObject* get_objects = nullptr;

/// Whether the class statement ran in the module of that name.
bool is_class_of(PyTypeObject* type, PyObject* module) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return false;
  PyObject* made_in = PyDict_GetItemString(dict_of_type(type), "__module__");
  return made_in != nullptr && PyUnicode_CheckExact(made_in) &&
         PyUnicode_Compare(made_in, module) == 0;
}

}  // namespace

void TrackedObjects::remember_collector() {
  const Reference gc = Reference::steal(PyImport_ImportModule("gc"));
  get_objects = gc ? PyObject_GetAttrString(gc.get(), "get_objects") : nullptr;
  if (get_objects == nullptr) PyErr_Clear();
}

TrackedObjects::TrackedObjects() {
  list_ = Reference::steal(get_objects ? PyObject_CallNoArgs(get_objects) : nullptr);
  if (!list_) PyErr_Clear();
}

// glibc raises the size from which blocks have pages of their own to that of each such block that
// is freed. Arrays of the program that are as large would then come from used heap, and calloc()
// would write to them. So the list shrinks to nothing before it goes.
void TrackedObjects::let_go() {
  if (!list_) return;
  const Reference list = std::move(list_);
  for (Py_ssize_t size = PyList_GET_SIZE(list.get()); size > 0;) {
    const Py_ssize_t left = std::max<Py_ssize_t>(0, size - kLetGoAtOnce);
    if (PyList_SetSlice(list.get(), left, size, nullptr) != 0) PyErr_Clear();
    // A destructor may have found the list.
    const Py_ssize_t now = PyList_GET_SIZE(list.get());
    if (now >= size) return;
    size = now;
  }
}

std::vector<PyObject*> untracked_targets(const std::vector<PyObject*>& objects) {
  std::vector<PyObject*> targets;
  for (PyObject* object : objects) {
    PyObject* target = PyWeakref_Check(object) ? target_of(object) : nullptr;
    if (target != nullptr && !PyObject_IS_GC(target)) targets.push_back(target);
  }
  return targets;
}

LiveObjects::LiveObjects() {
  for (Py_ssize_t i = 0; i < tracked_.size(); ++i) ++by_type_[Py_TYPE(tracked_[i])].count;
  std::size_t end = 0;
  for (auto& [type, span] : by_type_) {
    span.first = end;
    end += std::exchange(span.count, 0);
  }
  objects_.resize(end);
  for (Py_ssize_t i = 0; i < tracked_.size(); ++i) {
    Span& span = by_type_[Py_TYPE(tracked_[i])];
    objects_[span.first + span.count++] = tracked_[i];
  }
}

void LiveObjects::let_go() {
  by_type_.clear();
  objects_ = {};
  tracked_.let_go();
}

std::vector<PyObject*> LiveObjects::of(const Span& span) const {
  const auto first = objects_.begin() + static_cast<std::ptrdiff_t>(span.first);
  return {first, first + static_cast<std::ptrdiff_t>(span.count)};
}

std::vector<PyObject*> LiveObjects::instances(PyTypeObject* base) const {
  std::vector<PyObject*> found;
  for (const auto& [type, span] : by_type_) {
    if (!PyType_IsSubtype(type, base)) continue;
    const auto objects = of(span);
    found.insert(found.end(), objects.begin(), objects.end());
  }
  return found;
}

std::vector<PyObject*> LiveObjects::made_in(PyObject* namespace_dict) const {
  std::vector<PyObject*> found;
  PyObject* module = PyDict_GetItemString(namespace_dict, "__name__");
  for (const auto& [type, span] : by_type_) {
    const bool is_class = module != nullptr && PyUnicode_Check(module) && is_class_of(type, module);
    if (type != &PyFunction_Type && !is_class) continue;
    for (PyObject* object : of(span)) {
      if (is_class || PyFunction_GET_GLOBALS(object) == namespace_dict) found.push_back(object);
    }
  }
  return found;
}

}  // namespace xleak::facts
