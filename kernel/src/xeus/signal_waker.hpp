#pragma once

namespace xleak::kernel {

/// Starts a thread that brings signals to the calling thread, Python's main one. The system may
/// hand a signal to any thread; Python then only notes it, and a main thread in a sleep or a native
/// call would find the note when that ends. Returns the descriptor for signal.set_wakeup_fd().
int start_signal_waker();

}  // namespace xleak::kernel
