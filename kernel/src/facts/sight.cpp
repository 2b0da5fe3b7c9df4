#include "sight.hpp"

#include <utility>

#include "python_versions.hpp"

namespace xleak::facts {
namespace {

// Counted apart from CPython's own count, which also says that the user's trace function runs.
thread_local int depth = 0;

}  // namespace

OutOfSight::OutOfSight() noexcept {
  pause_tracing(PyThreadState_Get());
  ++depth;
}

OutOfSight::~OutOfSight() {
  --depth;
  resume_tracing(PyThreadState_Get());
}

InSight::InSight() noexcept : depth_(std::exchange(depth, 0)) {
  for (int i = 0; i < depth_; ++i) resume_tracing(PyThreadState_Get());
}

InSight::~InSight() {
  for (int i = 0; i < depth_; ++i) pause_tracing(PyThreadState_Get());
  depth = depth_;
}

}  // namespace xleak::facts
