#include "sight.hpp"

#include <utility>

#include "gil.hpp"
#include "python_versions.hpp"

namespace xleak::facts {
namespace {

// Counted apart from CPython's own count, which also says that the user's trace function runs.
thread_local int depth = 0;

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
