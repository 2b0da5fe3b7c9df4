#pragma once
#include <Python.h>

namespace xleak::facts {

/// What is made may set the collector off: finalizers of the user's would run on this thread, and
/// take away what is being read.
class CollectorPaused {
 public:
  CollectorPaused() : was_enabled_(PyGC_Disable() != 0) {}
  ~CollectorPaused() {
    if (was_enabled_) PyGC_Enable();
  }
  CollectorPaused(const CollectorPaused&) = delete;
  CollectorPaused& operator=(const CollectorPaused&) = delete;

 private:
  bool was_enabled_;
};

}  // namespace xleak::facts
