#pragma once
#include <string>

#include "nlohmann/json.hpp"

namespace xleak::kernel {

/// The header of a message of the kernel's, as xeus::make_header makes it; xeus asks the system for
/// 16 random bytes and a locale for each. Any thread.
nlohmann::json message_header(const std::string& type, const std::string& session);

/// Now, in UTC, as headers have it: 2026-11-24T12:00:00.000000Z.
std::string iso8601_now();

}  // namespace xleak::kernel
