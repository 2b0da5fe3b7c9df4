#pragma once

namespace xleak::frames {

inline constexpr bool kIsKnown = true;

/// The first words of `_PyInterpreterFrame`.
struct Frame {
  PyObject* function;
  PyObject* globals;
  PyObject* builtins;
  PyObject* locals;
  PyObject* code;
  PyObject* object;
  const Frame* previous;
  const char* instruction;
};

inline const Frame* innermost(const PyThreadState* thread) {
  if (thread->cframe == nullptr) return nullptr;
  return reinterpret_cast<const Frame*>(thread->cframe->current_frame);
}
inline const Frame* outer(const Frame* frame) { return frame->previous; }
inline PyCodeObject* code_of(const Frame* frame) { return living_code(frame->code); }
inline std::ptrdiff_t offset_of(const Frame* frame, const PyCodeObject* code) {
  return frame->instruction - code->co_code_adaptive;
}

}  // namespace xleak::frames
