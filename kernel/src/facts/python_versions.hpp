#pragma once
#include <Python.h>
// Part of Python.h from 3.11 on.
#include <frameobject.h>

#include <cstdint>

namespace xleak::facts {

// Where the generations of CPython differ in what the facts read. All of it wants the GIL.

class Reference;

/// The dictionary of a type, which lives as long as the type; null before the type is ready.
inline PyObject* dict_of_type(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  // That of a built-in type lies with the interpreter, and its field is null.
  PyObject* dict = PyType_GetDict(type);
  Py_XDECREF(dict);
  return dict;
#else
  return type->tp_dict;
#endif
}

/// Whether something refers to it. To the collector the asyncio of CPython 3.12 shows the objects
/// that it keeps for later use too; taking a reference to one and giving it back frees it twice.
inline bool is_in_use(PyObject* object) { return Py_REFCNT(object) > 0; }

/// How many digits an integer has, of the size that its type calls an item; 0 for zero.
inline Py_ssize_t digits_of(PyObject* integer) {
#if PY_VERSION_HEX >= 0x030C0000
  // The lowest three bits are the sign and whether it is immortal.
  constexpr unsigned kOtherBits = 3;
  const auto* number = reinterpret_cast<const PyLongObject*>(integer);
  return static_cast<Py_ssize_t>(number->long_value.lv_tag >> kOtherBits);
#else
  const Py_ssize_t signed_count = Py_SIZE(integer);
  return signed_count < 0 ? -signed_count : signed_count;
#endif
}

/// What a weak reference refers to, or null. It lives as long as whoever has a reference to it.
inline PyObject* target_of(PyObject* weak_reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  if (PyWeakref_GetRef(weak_reference, &target) < 0) PyErr_Clear();
  Py_XDECREF(target);
  return target;
#else
  PyObject* target = PyWeakref_GET_OBJECT(weak_reference);
  return target == Py_None ? nullptr : target;
#endif
}

/// No event of this thread's reaches a tracer, a profiler or a tool of sys.monitoring until as many
/// calls of resume_tracing().
inline void pause_tracing(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030B0000
  PyThreadState_EnterTracing(thread);
#else
  ++thread->tracing;
#endif
}

inline void resume_tracing(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030B0000
  PyThreadState_LeaveTracing(thread);
#else
  --thread->tracing;
#endif
}

/// Whether a function, by its code, has ever been called; true also where CPython does not say.
inline bool may_have_run(const PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
  // Counted up to zero by calls and by rounds of loops, from this on.
  constexpr int kOfNewCode = -8;
  return code->co_warmup != kOfNewCode;
#else
  (void)code;
  return true;
#endif
}

/// Where a stream has its text, and the bytes that it takes.
struct StreamText {
  const void* start = nullptr;
  std::int64_t bytes = 0;
};

/// That of an `io.StringIO`, which says it nowhere; empty where others have the same text.
StreamText text_of_stream(PyObject* stream);

/// The globals of a frame.
Reference globals_of(PyFrameObject* frame);

/// Whether Python is ending, and ends each thread that asks for the GIL.
bool is_finalizing();

/// A dictionary of a function's local variables by name, empty for the code of modules and classes.
/// The frame is left as it was. Null, without an error, where it cannot be made.
Reference locals_of(PyFrameObject* frame);

/// The name of a function's local variable that is `value`, or empty. The frame is left as it was.
Reference local_name(PyFrameObject* frame, PyObject* value);

}  // namespace xleak::facts
