#include "python_versions.hpp"

#include "reference.hpp"

namespace xleak::facts {

Reference globals_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return Reference::steal(PyFrame_GetGlobals(frame));
#else
  return Reference::share(frame->f_globals);
#endif
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

#if PY_VERSION_HEX >= 0x030C0000

Reference local_name(PyFrameObject* frame, PyObject* value) {
  const auto code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto names =
      Reference::steal(PyCode_GetVarnames(reinterpret_cast<PyCodeObject*>(code.get())));
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), i);
    const auto found = Reference::steal(PyFrame_GetVar(frame, name));
    if (found.get() == value) return Reference::share(name);
    if (!found) PyErr_Clear();
  }
  if (!names) PyErr_Clear();
  return {};
}

#elif PY_VERSION_HEX >= 0x030B0000

namespace {

/// The dictionary that a frame had made of its locals, by `f_locals`. It is visited before the
/// function and the locals themselves.
int find_locals_dict(PyObject* seen, void* found) {
  if (PyFunction_Check(seen)) return 1;
  if (PyDict_CheckExact(seen)) *static_cast<PyObject**>(found) = seen;
  return 0;
}

}  // namespace

// The frame shows its locals only by a dictionary, which it keeps, and with it their values.
Reference local_name(PyFrameObject* frame, PyObject* value) {
  const auto code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  // Others, of modules and classes, have their namespace itself.
  if ((reinterpret_cast<PyCodeObject*>(code.get())->co_flags & CO_OPTIMIZED) == 0) return {};
  PyObject* had = nullptr;
  PyFrame_Type.tp_traverse(reinterpret_cast<PyObject*>(frame), find_locals_dict, &had);
  const auto before = Reference::steal(had == nullptr ? PyDict_New() : PyDict_Copy(had));
  const auto locals = Reference::steal(before ? PyFrame_GetLocals(frame) : nullptr);
  Reference name;
  if (locals) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* held = nullptr;
    while (!name && PyDict_Next(locals.get(), &position, &key, &held))
      if (held == value) name = Reference::share(key);
    PyDict_Clear(locals.get());
    PyDict_Update(locals.get(), before.get());
  }
  PyErr_Clear();
  return name;
}

#else

Reference local_name(PyFrameObject* frame, PyObject* value) {
  PyObject* names = frame->f_code->co_varnames;
  for (int i = 0; i < frame->f_code->co_nlocals; ++i)
    if (frame->f_localsplus[i] == value) return Reference::share(PyTuple_GET_ITEM(names, i));
  return {};
}

#endif

}  // namespace xleak::facts
