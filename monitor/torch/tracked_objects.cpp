#include <Python.h>
// PyUnstable_GC_VisitObjects came with 3.12; before it the collector's lists are the only way.
#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
// C's atomics, which these headers would take, are no C++.
#undef HAVE_STD_ATOMIC
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE
#endif

#include "tracked_objects.hpp"

namespace xleak::libtorch {

using Visit = std::function<void(PyObject*)>;

#if PY_VERSION_HEX < 0x030C0000

namespace {

// From both ends at once: each step waits for memory, and two waits overlap.
void visit_list(PyGC_Head* head, const Visit& visit) {
  PyGC_Head* front = _PyGCHead_NEXT(head);
  PyGC_Head* back = _PyGCHead_PREV(head);
  while (front != head) {
    visit(reinterpret_cast<PyObject*>(front + 1));
    if (front == back) return;
    visit(reinterpret_cast<PyObject*>(back + 1));
    front = _PyGCHead_NEXT(front);
    if (front == back) return;
    back = _PyGCHead_PREV(back);
  }
}

}  // namespace

void for_each_tracked(const Visit& visit) {
  auto& collector = PyInterpreterState_Get()->gc;
  for (auto& generation : collector.generations) visit_list(&generation.head, visit);
}

#else

void for_each_tracked(const Visit& visit) {
  const auto each = [](PyObject* object, void* visitor) {
    (*static_cast<const Visit*>(visitor))(object);
    return 1;
  };
  PyUnstable_GC_VisitObjects(each, const_cast<Visit*>(&visit));
}

#endif

}  // namespace xleak::libtorch
