#pragma once

namespace xleak::frames {

// A later CPython, or one without the GIL, whose threads run copies of the code.
inline constexpr bool kIsKnown = false;

struct Frame;

inline const Frame* innermost(const PyThreadState* /*thread*/) { return nullptr; }
inline const Frame* outer(const Frame* /*frame*/) { return nullptr; }
inline PyCodeObject* code_of(const Frame* /*frame*/) { return nullptr; }
inline std::ptrdiff_t offset_of(const Frame* /*frame*/, const PyCodeObject* /*code*/) { return -1; }

}  // namespace xleak::frames
