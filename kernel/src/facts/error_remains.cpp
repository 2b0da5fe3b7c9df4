#include "error_remains.hpp"

#include <unordered_set>
#include <vector>

#include "python_versions.hpp"
#include "reference.hpp"
#include "shell_names.hpp"

namespace xleak::facts {
namespace {

// Errors with more behind them are worth a look.
constexpr std::size_t kMostObjects = 10000;
// A larger collection may take much by itself.
constexpr Py_ssize_t kFew = 64;

bool is_code(PyObject* object) {
  if (PyModule_Check(object) || PyType_Check(object) || PyCode_Check(object)) return true;
  if (PyFunction_Check(object)) return PyFunction_GET_CLOSURE(object) == nullptr;
  if (!PyCFunction_Check(object)) return false;
  PyObject* owner = PyCFunction_GET_SELF(object);
  return owner == nullptr || PyModule_Check(owner);
}

bool has_value(PyObject* names, PyObject* wanted) {
  Py_ssize_t position = 0;
  PyObject* value = nullptr;
  while (PyDict_Next(names, &position, nullptr, &value)) {
    if (value == wanted) return true;
  }
  return false;
}

class Walk {
 public:
  explicit Walk(PyObject* user_ns) : user_ns_(user_ns) {}

  bool finds_nothing(PyObject* error) {
    add(error);
    while (!open_.empty() && harmless_) {
      PyObject* object = open_.back();
      open_.pop_back();
      if (PyTraceBack_Check(object)) {
        add_traceback(reinterpret_cast<PyTracebackObject*>(object));
      } else {
        const Reference caller = caller_of(object);
        caller_ = caller.get();
        Py_TYPE(object)->tp_traverse(object, visit, this);
        caller_ = nullptr;
      }
    }
    return harmless_;
  }

 private:
  static Reference caller_of(PyObject* object) {
    if (!PyFrame_Check(object)) return {};
    auto* frame = reinterpret_cast<PyFrameObject*>(object);
    return Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
  }

  static int visit(PyObject* target, void* self) {
    auto* walk = static_cast<Walk*>(self);
    // The caller is C code, which an exception must not cross.
    try {
      walk->add(target);
    } catch (...) {
      walk->harmless_ = false;
    }
    return walk->harmless_ ? 0 : 1;
  }

  // IPython's frames lead to the shell; what they have of the user's is in those that follow.
  void add_traceback(PyTracebackObject* traceback) {
    bool is_users = false;
    for (; traceback != nullptr; traceback = traceback->tb_next) {
      const Reference globals = globals_of(traceback->tb_frame);
      is_users = is_users || globals.get() == user_ns_;
      if (is_users) add(reinterpret_cast<PyObject*>(traceback->tb_frame));
    }
  }

  void add(PyObject* object) {
    if (object == nullptr || object == user_ns_ || object == caller_) return;
    if (is_small_scalar(object) || is_code(object)) return;
    if (!seen_.insert(object).second) return;
    if (seen_.size() <= kMostObjects && is_walked(object)) return open_.push_back(object);
    harmless_ = harmless_ && has_value(user_ns_, object);
  }

  /// Of its own it takes little, so what it refers to decides.
  static bool is_walked(PyObject* object) {
    if (PyTuple_CheckExact(object)) return PyTuple_GET_SIZE(object) <= kFew;
    if (PyDict_CheckExact(object)) return PyDict_GET_SIZE(object) <= kFew;
    return PyExceptionInstance_Check(object) || PyTraceBack_Check(object) || PyFrame_Check(object);
  }

  PyObject* user_ns_;
  PyObject* caller_ = nullptr;  ///< Of the frame that is read: tp_traverse shows it too.
  bool harmless_ = true;
  std::unordered_set<PyObject*> seen_;
  std::vector<PyObject*> open_;
};

}  // namespace

bool may_keep_memory(PyObject* error, PyObject* user_ns) {
  return !Walk(user_ns).finds_nothing(error);
}

}  // namespace xleak::facts
