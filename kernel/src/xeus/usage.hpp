#pragma once
#include "nlohmann/json.hpp"

namespace xleak::kernel {

/// The content of a usage_reply, with the fields that ipykernel sends. Reads /proc; needs no GIL.
/// kernel_memory is proportional (PSS) where the system tells it, else resident bytes; kernel_cpu
/// in percent of one core since the last call, over the kernel and its children.
nlohmann::json usage_reply();

}  // namespace xleak::kernel
