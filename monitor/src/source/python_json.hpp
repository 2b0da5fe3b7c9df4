#pragma once
#include <string>
#include <string_view>

namespace xleak::monitor::source {

/// The document in strict JSON, where Python's json module reads more than that: NaN and the
/// infinities become null, numbers that may not fit a double 0, and half of a surrogate pair
/// U+FFFD, which has as many bytes. What Python refuses stays invalid.
std::string in_strict_json(std::string_view text);

}  // namespace xleak::monitor::source
