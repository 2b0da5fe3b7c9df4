#pragma once

namespace xleak::kernel {

/// From here on every fork of this process is noticed.
void watch_forks();
/// True in a child of the kernel's process: it shares the kernel's sockets and must not touch them.
bool in_forked_child() noexcept;

/// For os.register_at_fork(): Python's own work before and after a fork begins, and has ended.
void note_fork(bool begins) noexcept;
/// True in between, where Python drops what a handler of a signal raises.
bool is_forking() noexcept;

}  // namespace xleak::kernel
