#pragma once
#include <string>

#include "nlohmann/json.hpp"

namespace xleak::kernel {

/// The text behind `key`, or nothing where a front end sent something else.
std::string text_in(const nlohmann::json& object, const char* key);
/// What the content of a message of this type lacks, as a sentence. Empty where nothing is missing.
std::string what_is_missing(const std::string& type, const nlohmann::json& content);
/// Why the debugger cannot be asked this, or nothing where it can.
std::string what_is_wrong_with_debug_request(const nlohmann::json& content);

}  // namespace xleak::kernel
