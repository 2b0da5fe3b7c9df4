#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <utility>

#include "bindings/register.hpp"
#include "facts/reference.hpp"
#include "facts/sight.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

using facts::InSight;
using facts::OutOfSight;

/// A function whose calls no tracer sees. Its attributes are the function's, and a class binds it
/// as a method.
struct Unseen {
  PyObject_HEAD PyObject* function;
  PyObject* otherwise;  ///< Returned where the recursion limit ends the call; may be null.
  vectorcallfunc call;
};

bool was_cut_short = false;

Unseen* as_unseen(PyObject* self) { return reinterpret_cast<Unseen*>(self); }

PyObject* call_unseen(PyObject* self, PyObject* const* arguments, std::size_t count,
                      PyObject* names) {
  const OutOfSight hidden;
  const Unseen& unseen = *as_unseen(self);
  PyObject* result = PyObject_Vectorcall(unseen.function, arguments, count, names);
  if (result != nullptr || unseen.otherwise == nullptr ||
      !PyErr_ExceptionMatches(PyExc_RecursionError))
    return result;
  PyErr_Clear();
  was_cut_short = true;
  return Py_NewRef(unseen.otherwise);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject* /*type*/) {
  return instance == nullptr ? Py_NewRef(self) : PyMethod_New(self, instance);
}

PyObject* attribute(PyObject* self, PyObject* name) {
  // What says what kind of object this is, and where inspect finds the function.
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0)
    return Py_NewRef(as_unseen(self)->function);
  if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
    return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  return PyObject_GetAttr(as_unseen(self)->function, name);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(as_unseen(self)->function, name, value);
}

PyObject* shown(PyObject* self) { return PyObject_Repr(as_unseen(self)->function); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_unseen(self)->function);
  Py_VISIT(as_unseen(self)->otherwise);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_unseen(self)->function);
  Py_CLEAR(as_unseen(self)->otherwise);
  return 0;
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Unseen, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                       {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                       {Py_tp_getattro, reinterpret_cast<void*>(&attribute)},
                       {Py_tp_setattro, reinterpret_cast<void*>(&set_attribute)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(&bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(&shown)},
                       {Py_tp_members, members},
                       {0, nullptr}};

PyType_Spec spec = {"xleak._native.Unseen", sizeof(Unseen), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

PyTypeObject* unseen_type = nullptr;

PyObject* out_of_sight(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count < 1 || count > 2) {
    PyErr_SetString(PyExc_TypeError, "out_of_sight() wants a function, and what it returns if cut");
    return nullptr;
  }
  PyObject* self = unseen_type->tp_alloc(unseen_type, 0);
  if (self == nullptr) return nullptr;
  as_unseen(self)->function = Py_NewRef(arguments[0]);
  as_unseen(self)->otherwise = count > 1 ? Py_NewRef(arguments[1]) : nullptr;
  as_unseen(self)->call = &call_unseen;
  return self;
}

PyObject* in_sight(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count,
                   PyObject* names) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "in_sight() wants a function to call");
    return nullptr;
  }
  const InSight seen;
  return PyObject_Vectorcall(arguments[0], arguments + 1, static_cast<std::size_t>(count - 1),
                             names);
}

template <typename Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef functions[] = {
    {"out_of_sight", as_method(&out_of_sight), METH_FASTCALL,
     "Return the function, to be called where no tracer, profiler or tool of sys.monitoring sees "
     "it. Its second argument, where there is one, is returned in place of a RecursionError."},
    {"in_sight", as_method(&in_sight), METH_FASTCALL | METH_KEYWORDS,
     "Call a function with the arguments behind it: code of the user's, which tracers see."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void register_sight(py::module_& m) {
  unseen_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (unseen_type == nullptr || PyModule_AddFunctions(m.ptr(), functions) != 0)
    throw py::error_already_set();
  m.attr("Unseen") = py::handle(reinterpret_cast<PyObject*>(unseen_type));
  m.def(
      "cut_short", [] { was_cut_short = true; },
      "Note that the recursion limit has cut short what xleak does by itself.");
  m.def(
      "was_cut_short", [] { return std::exchange(was_cut_short, false); },
      "Return, once, whether the recursion limit has done so.");
}

}  // namespace xleak::bindings
