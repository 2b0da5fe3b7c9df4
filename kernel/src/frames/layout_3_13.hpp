#pragma once

namespace xleak::frames {

inline constexpr bool kIsKnown = true;

/// The first words of `_PyInterpreterFrame`. The frame by which C calls Python has None for its
/// code.
struct Frame {
  PyObject* executable;
  const Frame* previous;
  PyObject* function;
  PyObject* globals;
  PyObject* builtins;
  PyObject* locals;
  PyObject* object;
  const char* instruction;
};

inline const Frame* innermost(const PyThreadState* thread) {
  return reinterpret_cast<const Frame*>(thread->current_frame);
}
inline const Frame* outer(const Frame* frame) { return frame->previous; }
inline PyCodeObject* code_of(const Frame* frame) { return living_code(frame->executable); }
inline std::ptrdiff_t offset_of(const Frame* frame, const PyCodeObject* code) {
  return frame->instruction - code->co_code_adaptive;
}

}  // namespace xleak::frames
