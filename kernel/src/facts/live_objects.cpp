#include "live_objects.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "collector_paused.hpp"

namespace xleak::facts {
namespace {

#if PY_VERSION_HEX >= 0x030C0000
template <typename Take>
void each_tracked(Take take) {
  PyUnstable_GC_VisitObjects(
      [](PyObject* object, void* taking) { return (*static_cast<Take*>(taking))(object) ? 1 : 0; },
      &take);
}
#else
/// CPython 3.10 and 3.11, Include/internal/pycore_gc.h: each object stands in a ring, behind two
/// words. The rings of the three generations begin in an array; what is new comes last in the
/// first.
struct Link {
  std::uintptr_t next;
  std::uintptr_t previous;

  Link* following() const { return reinterpret_cast<Link*>(next); }
  PyObject* object() { return reinterpret_cast<PyObject*>(this + 1); }
};

struct Generation {
  Link ring;
  int threshold;
  int count;
};

template <typename Take>
void each_tracked(Take take) {
  const CollectorPaused paused;
  const Reference newest = Reference::steal(PyList_New(0));
  if (!newest) return PyErr_Clear();
  auto* const youngest =
      reinterpret_cast<Generation*>((reinterpret_cast<Link*>(newest.get()) - 1)->following());
  for (Generation* generation = youngest; generation != youngest + 3; ++generation) {
    Link* const ring = &generation->ring;
    for (Link* at = ring->following(); at != ring; at = at->following()) {
      if (at->object() != newest.get() && !take(at->object())) return;
    }
  }
}
#endif

/// Whether the class statement ran in the module of that name.
bool is_class_of(PyTypeObject* type, PyObject* module) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return false;
  PyObject* made_in = PyDict_GetItemString(dict_of_type(type), "__module__");
  return made_in != nullptr && PyUnicode_CheckExact(made_in) &&
         PyUnicode_Compare(made_in, module) == 0;
}

}  // namespace

// gc.get_objects would ask for a block of the C heap as large as some arrays of the program, which
// would then come from what it leaves there; and tell the program's audit hooks.
TrackedObjects::TrackedObjects() {
  bool complete = true;
  each_tracked([&](PyObject* object) {
    try {
      objects_.push_back(object);
      Py_INCREF(object);
      return true;
    } catch (const std::bad_alloc&) {
      return complete = false;
    }
  });
  if (!complete) let_go();
}

void TrackedObjects::let_go() {
  const auto objects = std::exchange(objects_, {});
  for (PyObject* object : objects) Py_DECREF(object);
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
