#include "sight.hpp"

#include <utility>

#include "python_versions.hpp"

namespace xleak::facts {
namespace {

// Counted apart from CPython's own count, which also says that the user's trace function runs.
thread_local int depth = 0;

// Until 3.13 a daemon thread that asks for the GIL while Python ends is unwound without it.
bool has_gil(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked() == thread;
#else
  return _PyThreadState_UncheckedGet() == thread;
#endif
}

}  // namespace

OutOfSight::OutOfSight() noexcept : thread_(PyThreadState_Get()) {
  pause_tracing(thread_);
  ++depth;
}

OutOfSight::~OutOfSight() {
  if (!has_gil(thread_)) return;
  --depth;
  resume_tracing(thread_);
}

InSight::InSight() noexcept : thread_(PyThreadState_Get()), depth_(std::exchange(depth, 0)) {
  for (int i = 0; i < depth_; ++i) resume_tracing(thread_);
}

InSight::~InSight() {
  if (!has_gil(thread_)) return;
  for (int i = 0; i < depth_; ++i) pause_tracing(thread_);
  depth = depth_;
}

}  // namespace xleak::facts
