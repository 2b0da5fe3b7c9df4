#pragma once
#include <cstdint>
#include <string_view>

#include "source/syntax.hpp"

namespace xleak::monitor::source {

/// Whether a cell has what the grammar accepts and Python refuses: a block without statements, a
/// statement that is indented for no reason, `f(a=1, b)`. May be wrong about code that is right, as
/// only CPython knows; never looks at more than the nodes of the cell. first: its first node.
bool is_read_leniently(const Syntax& syntax, std::uint32_t first, std::string_view text);

}  // namespace xleak::monitor::source
