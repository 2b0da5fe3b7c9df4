#pragma once
#include <vector>

#include "retention/block_table.hpp"

namespace xleak::monitor {

/// Takes those out that cannot be alive, and returns them: their release was not seen, since it
/// came from a library whose import table could not be set. By what stands in memory at their
/// place: it is not there, a younger block covers it, or the header before it is not that of a
/// block of this size that is in use. A block that was released and whose place holds another one
/// of the same size is not noticed. The blocks are in the order of their addresses, and stay so.
std::vector<KnownBlock> take_out_stale(std::vector<KnownBlock>& blocks);

}  // namespace xleak::monitor
