#pragma once
#include <string>
#include <string_view>

namespace xleak::monitor::source {

/// What an import names, from the top: `path` as Names joins it, where each dot of a relative
/// import is a part of its own; `package`: where those of this module begin. Empty for a relative
/// import out of the top.
std::string absolute_import(std::string_view path, std::string_view package);

}  // namespace xleak::monitor::source
