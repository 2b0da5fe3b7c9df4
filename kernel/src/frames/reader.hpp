#pragma once

namespace xleak::frames {

/// Has each large block of the ledger's remember the user's line, until Python ends. Throws
/// monitor::Error where this CPython's frames cannot be read, and where the folders of its
/// libraries cannot be had. Wants the GIL and a caller in Python.
void install_reader();

/// Blocks have no line any more. Wants the GIL.
void uninstall_reader() noexcept;

}  // namespace xleak::frames
