#pragma once
#include <Python.h>

#include <cstddef>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "reference.hpp"
#include "xleak/monitor/large_vector.hpp"
#include "xleak/monitor/page_memory.hpp"

namespace xleak::facts {

/// All objects that the collector tracks, kept alive.
class TrackedObjects {
 public:
  TrackedObjects();
  ~TrackedObjects() { let_go(); }
  TrackedObjects(const TrackedObjects&) = delete;
  TrackedObjects& operator=(const TrackedObjects&) = delete;

  /// False where there was no memory for them.
  explicit operator bool() const { return !objects_.empty(); }
  Py_ssize_t size() const { return static_cast<Py_ssize_t>(objects_.size()); }
  PyObject* operator[](Py_ssize_t at) const { return objects_[static_cast<std::size_t>(at)]; }
  /// From here on there are none.
  void let_go();

 private:
  monitor::LargeVector<PyObject*> objects_;
};

/// What weak references among the objects lead to and the collector does not track: arrays, say.
std::vector<PyObject*> untracked_targets(const std::vector<PyObject*>& objects);

/// The objects that the collector tracks now, by type. Keeps them alive until let_go(), which must
/// be called: a frame among them may refer to this one, a cycle that no collector sees. Needs the
/// GIL.
class LiveObjects {
 public:
  LiveObjects();

  /// Those of a type or of a subtype, by the type pointer alone.
  std::vector<PyObject*> instances(PyTypeObject* base) const;
  /// The instances of classes, and the functions, that the code of a namespace made.
  std::vector<PyObject*> made_in(PyObject* namespace_dict) const;
  /// From here on there are none.
  void let_go();

 private:
  struct Span {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::vector<PyObject*> of(const Span& span) const;

  TrackedObjects tracked_;
  monitor::PageMemory memory_;
  monitor::LargeVector<PyObject*> objects_;  ///< Those of a type stand together.
  std::pmr::unordered_map<PyTypeObject*, Span> by_type_{memory_.get()};
};

}  // namespace xleak::facts
