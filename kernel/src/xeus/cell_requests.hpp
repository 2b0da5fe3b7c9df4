#pragma once
#include <string>
#include <utility>
#include <vector>

#include "xeus/xmessage.hpp"

namespace xleak::kernel {

/// A cell by its index in the session, and {"header", "metadata"} of its request as JSON.
using CellRequest = std::pair<int, std::string>;

/// Keeps the request of cell `index`, for messages about the cell that are sent after later
/// requests. One without metadata or above 64 KiB is not kept. Main thread.
void keep_request(int index, const xeus::xmessage& request);

/// The requests kept of cell `index` and of those after it, oldest first. Main thread.
std::vector<CellRequest> requests_since(int index);

}  // namespace xleak::kernel
