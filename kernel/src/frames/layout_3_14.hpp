#pragma once
#include <cstdint>

namespace xleak::frames {

inline constexpr bool kIsKnown = true;

/// The first words of `_PyInterpreterFrame`. The frame by which C calls Python has None for its
/// code.
struct Frame {
  std::uintptr_t executable;  ///< A reference whose lowest bits say who counts it.
  const Frame* previous;
  std::uintptr_t function;
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
inline PyCodeObject* code_of(const Frame* frame) {
  constexpr std::uintptr_t kTagBits = 7;
  return living_code(reinterpret_cast<PyObject*>(frame->executable & ~kTagBits));
}
inline std::ptrdiff_t offset_of(const Frame* frame, const PyCodeObject* code) {
  return frame->instruction - code->co_code_adaptive;
}

}  // namespace xleak::frames
