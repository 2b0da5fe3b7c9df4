#pragma once
#include <Python.h>

#include <functional>

namespace xleak::libtorch {

/// Calls `visit` with every object that the collector tracks, without a list of them: to make one
/// writes to each object twice. `visit` must neither make nor release Python objects, nor give up
/// the GIL.
void for_each_tracked(const std::function<void(PyObject*)>& visit);

}  // namespace xleak::libtorch
