#include "reader.hpp"

#include <string>

#include "facts/reference.hpp"
#include "layout.hpp"
#include "user_line.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::frames {
namespace {

using facts::Reference;

constexpr const char* kFollows = " Memory has no lines; all else works.";

PyFrameObject* as_frame(const Reference& frame) {
  return reinterpret_cast<PyFrameObject*>(frame.get());
}

Reference code_by_python(const Reference& frame) {
  return Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(as_frame(frame))));
}

std::ptrdiff_t offset_by_python(const Reference& frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(as_frame(frame));
#else
  return offset_of(as_frame(frame), nullptr);
#endif
}

/// The next frame that Python shows too.
const Frame* shown(const Frame* frame) {
  for (; frame != nullptr; frame = outer(frame)) {
    PyCodeObject* code = code_of(frame);
    if (code == nullptr) continue;
    const Utf8 file(raw_text(code->co_filename));
    if (std::string(file.c_str()) != "<shim>") return frame;
  }
  return nullptr;
}

/// Whether the frames that are read in place are those that Python shows.
bool layout_fits() {
  PyThreadState* thread = PyThreadState_Get();
  const Frame* own = shown(innermost(thread));
  auto theirs = Reference::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  while (own != nullptr && theirs) {
    PyCodeObject* code = code_of(own);
    const Reference expected = code_by_python(theirs);
    if (reinterpret_cast<PyObject*>(code) != expected.get()) return false;
    if (offset_of(own, code) != offset_by_python(theirs)) return false;
    own = shown(outer(own));
    theirs = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(as_frame(theirs))));
  }
  return own == nullptr && !theirs;
}

PyObject* end_with_python(PyObject* /*self*/, PyObject* /*none*/) {
  uninstall_reader();
  Py_RETURN_NONE;
}

/// The states of other threads are freed once Python's exit functions have run.
void end_at_exit() {
  static bool is_registered = false;
  static PyMethodDef end{"end_reading", end_with_python, METH_NOARGS, nullptr};
  if (is_registered) return;
  const auto module = Reference::steal(PyImport_ImportModule("atexit"));
  const auto function = Reference::steal(PyCFunction_New(&end, nullptr));
  const auto done = Reference::steal(
      module && function ? PyObject_CallMethod(module.get(), "register", "O", function.get())
                         : nullptr);
  if (!done) {
    PyErr_Clear();
    throw monitor::Error(std::string("cannot register an exit function.") + kFollows);
  }
  is_registered = true;
}

}  // namespace

void install_reader() {
  if (!kIsKnown || !layout_fits()) {
    throw monitor::Error(std::string("cannot read the frames of CPython ") + Py_GetVersion() +
                         ": xleak does not know how they lie in memory." + kFollows);
  }
  UserFiles files = UserFiles::of_this_python();
  end_at_exit();
  begin_reading(std::move(files));
  monitor::read_sites_by(user_line);
}

void uninstall_reader() noexcept {
  monitor::read_sites_by(nullptr);
  end_reading();
}

}  // namespace xleak::frames
