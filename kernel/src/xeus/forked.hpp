#pragma once

namespace xleak::kernel {

/// From here on every fork of this process is noticed.
void watch_forks();
/// True in a child of the kernel's process: it shares the kernel's sockets and must not touch them.
bool in_forked_child() noexcept;

}  // namespace xleak::kernel
