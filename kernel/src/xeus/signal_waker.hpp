#pragma once
#include "pybind11/pybind11.h"

namespace xleak::kernel {

/// Starts a thread that brings signals to the calling thread, Python's main one. The system may
/// hand a signal to any thread; Python then only notes it, and a main thread in a sleep or a native
/// call would find the note when that ends. `loop_wake` is an eventfd that the main thread's event
/// loop listens to: it gets a count with each signal, since a signal that comes right before the
/// loop's wait does not end it. `looked(frame)` is called in the main thread when it was brought
/// there. Returns the descriptor for signal.set_wakeup_fd().
int start_signal_waker(int loop_wake, const pybind11::object& looked);
/// `looked` is called once more, a moment later. Main thread.
void look_again();

}  // namespace xleak::kernel
