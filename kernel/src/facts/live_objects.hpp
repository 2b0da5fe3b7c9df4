#pragma once
#include <Python.h>

#include <unordered_map>
#include <vector>

#include "reference.hpp"

namespace xleak::facts {

/// The list of all objects that the collector tracks. Empty, with no Python error set, where there
/// is no memory for it.
Reference tracked_objects();

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
  Reference tracked_ = tracked_objects();
  std::unordered_map<PyTypeObject*, std::vector<PyObject*>> by_type_;
};

}  // namespace xleak::facts
