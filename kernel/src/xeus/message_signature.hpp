#pragma once
#include <memory>
#include <string>

#include "xeus/xauthentication.hpp"

namespace xleak::kernel {

/// What signs messages, and checks signatures, by a scheme of the protocol ("hmac-sha256", "none").
/// Any thread. xeus's own sets up OpenSSL again and makes a stream of text for each of the five
/// signatures of a cell: together a twentieth of a trivial one.
std::unique_ptr<xeus::xauthentication> make_signature(const std::string& scheme,
                                                      const std::string& key);

}  // namespace xleak::kernel
