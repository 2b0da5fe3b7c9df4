#pragma once
#include <Python.h>
// Part of Python.h from 3.11 on.
#include <frameobject.h>

#include <cstddef>

// How a thread's frames lie in memory. CPython offers no way to them that takes no reference and
// makes no object, so they are read where they are: by the thread that they belong to, which keeps
// them and their code alive and cannot move on while it is here. Each layout has the same six:
//
//   kIsKnown                whether this CPython can be read at all
//   Frame                   its first words, as the interpreter has them
//   innermost(thread)       null where no Python code runs
//   outer(frame)            the caller's; null for the outermost
//   code_of(frame)          null where it has none that is alive
//   offset_of(frame, code)  of the instruction that runs, in bytes; negative before the first

namespace xleak::frames {

/// The code in a field of a frame. A frame between two of Python's has no code there, and one that
/// is being taken down may have code that is going: its texts may be gone already.
inline PyCodeObject* living_code(PyObject* object) {
  if (object == nullptr || Py_TYPE(object) != &PyCode_Type || Py_REFCNT(object) <= 0)
    return nullptr;
  return reinterpret_cast<PyCodeObject*>(object);
}

}  // namespace xleak::frames

#if defined(Py_GIL_DISABLED)
#include "layout_unknown.hpp"  // IWYU pragma: export
#elif PY_VERSION_HEX < 0x030B0000
#include "layout_3_10.hpp"  // IWYU pragma: export
#elif PY_VERSION_HEX < 0x030C0000
#include "layout_3_11.hpp"  // IWYU pragma: export
#elif PY_VERSION_HEX < 0x030D0000
#include "layout_3_12.hpp"  // IWYU pragma: export
#elif PY_VERSION_HEX < 0x030E0000
#include "layout_3_13.hpp"  // IWYU pragma: export
#elif PY_VERSION_HEX < 0x030F0000
#include "layout_3_14.hpp"  // IWYU pragma: export
#else
#include "layout_unknown.hpp"  // IWYU pragma: export
#endif
