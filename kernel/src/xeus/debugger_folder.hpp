#pragma once
#include <string>

namespace xleak::kernel {

/// Makes the folder where xeus-python's debugger writes the cells' sources, which has a name that
/// others can guess. Why it must not be used, or nothing where it is this user's alone.
std::string what_is_wrong_with_debugger_folder();

}  // namespace xleak::kernel
