#pragma once
#include <Python.h>

#include <cstdint>
#include <unordered_set>

#include "closure.hpp"

namespace xleak::facts {

/// What an object stands for in memory: its own identity and that of everything large that it
/// reaches.
using Parts = std::unordered_set<std::int64_t>;

Parts parts_of(PyObject* object, const Pointers& barriers);

/// Whether `object` is or reaches one of `parts`.
bool reaches(PyObject* object, const Parts& parts, const Pointers& barriers);

}  // namespace xleak::facts
