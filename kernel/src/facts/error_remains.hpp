#pragma once
#include <Python.h>

namespace xleak::facts {

/// Whether an error, the errors behind it and their frames may keep more than a name of `user_ns`
/// shows: false where all that they refer to is small, a name's value, or code. Reads what
/// tp_traverse shows, and nothing of the frames outside of `user_ns`'s code that called it.
bool may_keep_memory(PyObject* error, PyObject* user_ns);

}  // namespace xleak::facts
