#pragma once

namespace xleak::frames {

inline constexpr bool kIsKnown = true;

using Frame = PyFrameObject;

inline const Frame* innermost(const PyThreadState* thread) { return thread->frame; }
inline const Frame* outer(const Frame* frame) { return frame->f_back; }
inline PyCodeObject* code_of(const Frame* frame) {
  return living_code(reinterpret_cast<PyObject*>(frame->f_code));
}
/// The frame counts instructions, of two bytes each.
inline std::ptrdiff_t offset_of(const Frame* frame, const PyCodeObject* /*code*/) {
  constexpr std::ptrdiff_t kInstructionBytes = 2;
  return frame->f_lasti * kInstructionBytes;
}

}  // namespace xleak::frames
