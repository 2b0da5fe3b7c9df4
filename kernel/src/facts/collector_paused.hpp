#pragma once
#include <Python.h>

namespace xleak::facts {

/// Frame objects are made to be asked, and what is made may set the collector off: finalizers of
/// the user's would run on this thread.
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
