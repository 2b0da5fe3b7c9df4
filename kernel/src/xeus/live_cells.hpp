#pragma once
#include <string>
#include <vector>

#include "server.hpp"

namespace xleak::kernel {

/// Has threads that need no GIL tell panels what a cell does while it runs and how near the limits
/// are, by the messages `live` and `guard` of share/comm/v1.schema.json. comm_ids: the comms of all
/// panels that are open, none to end it. `server` must live until the process ends.
void tell_live_cells(Server& server, std::vector<std::string> comm_ids);

}  // namespace xleak::kernel
