#include "live_objects.hpp"

namespace xleak::facts {

Reference tracked_objects() {
  const Reference gc = Reference::steal(PyImport_ImportModule("gc"));
  Reference list =
      Reference::steal(gc ? PyObject_CallMethod(gc.get(), "get_objects", nullptr) : nullptr);
  if (!list) PyErr_Clear();
  return list;
}

LiveObjects::LiveObjects() {
  if (!tracked_) return;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked_.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(tracked_.get(), i);
    by_type_[Py_TYPE(object)].push_back(object);
  }
}

void LiveObjects::let_go() {
  by_type_.clear();
  tracked_ = Reference();
}

std::vector<PyObject*> LiveObjects::instances(PyTypeObject* base) const {
  std::vector<PyObject*> found;
  for (const auto& [type, objects] : by_type_) {
    if (PyType_IsSubtype(type, base)) found.insert(found.end(), objects.begin(), objects.end());
  }
  return found;
}

}  // namespace xleak::facts
