#pragma once
#include <Python.h>

#include <cstddef>

namespace xleak::frames {

/// The line of the instruction at a byte offset into a code object: that before it where it has
/// none, the first of the code object where the offset is negative. Reads the table of lines alone,
/// which never changes: CPython's own function also reads what a tracer on another thread may be
/// writing.
int line_at(const PyCodeObject* code, std::ptrdiff_t offset) noexcept;

}  // namespace xleak::frames
