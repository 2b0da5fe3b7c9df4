#pragma once
#include <Python.h>

namespace xleak::facts {

/// While it lives, no tracer, profiler or tool of sys.monitoring sees what this thread runs. They
/// stay installed, and what they keep is left as it is. Wants the GIL.
class OutOfSight {
 public:
  OutOfSight() noexcept;
  ~OutOfSight();
  OutOfSight(const OutOfSight&) = delete;
  OutOfSight& operator=(const OutOfSight&) = delete;

 private:
  PyThreadState* thread_;
};

/// While it lives, code of the user's is seen again, as if it were called from outside of every
/// OutOfSight of this thread.
class InSight {
 public:
  InSight() noexcept;
  ~InSight();
  InSight(const InSight&) = delete;
  InSight& operator=(const InSight&) = delete;

 private:
  PyThreadState* thread_;
  int depth_;
};

}  // namespace xleak::facts
