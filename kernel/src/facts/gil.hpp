#pragma once
#include <Python.h>

namespace xleak::facts {

/// Whether this thread has the GIL; `thread` is its own state. Reads no memory of Python's heap.
/// Until 3.13 a daemon thread that asks for the GIL while Python ends is unwound without it.
inline bool has_gil(const PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked() == thread;
#else
  return _PyThreadState_UncheckedGet() == thread;
#endif
}

}  // namespace xleak::facts
