#include "live_objects.hpp"

#include <algorithm>
#include <iterator>

namespace xleak::facts {
namespace {

/// Whether the class statement ran in the module of that name.
bool is_class_of(PyTypeObject* type, PyObject* module) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return false;
  PyObject* made_in = PyDict_GetItemString(dict_of_type(type), "__module__");
  return made_in != nullptr && PyUnicode_CheckExact(made_in) &&
         PyUnicode_Compare(made_in, module) == 0;
}

}  // namespace

Reference tracked_objects() {
  const Reference gc = Reference::steal(PyImport_ImportModule("gc"));
  Reference list =
      Reference::steal(gc ? PyObject_CallMethod(gc.get(), "get_objects", nullptr) : nullptr);
  if (!list) PyErr_Clear();
  return list;
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

std::vector<PyObject*> LiveObjects::made_in(PyObject* namespace_dict) const {
  std::vector<PyObject*> found;
  PyObject* module = PyDict_GetItemString(namespace_dict, "__name__");
  for (const auto& [type, objects] : by_type_) {
    if (type == &PyFunction_Type) {
      std::copy_if(objects.begin(), objects.end(), std::back_inserter(found),
                   [&](PyObject* it) { return PyFunction_GET_GLOBALS(it) == namespace_dict; });
    } else if (module != nullptr && PyUnicode_Check(module) && is_class_of(type, module)) {
      found.insert(found.end(), objects.begin(), objects.end());
    }
  }
  return found;
}

}  // namespace xleak::facts
