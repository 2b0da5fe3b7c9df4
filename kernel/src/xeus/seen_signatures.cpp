#include "seen_signatures.hpp"

#include <charconv>
#include <utility>

namespace xleak::kernel {

bool SeenSignatures::is_new(std::string_view signature) {
  const Digest digest = digest_of(signature);
  std::lock_guard<std::mutex> lock(mutex_);
  if (older_.count(digest) != 0 || !newer_.insert(digest).second) return false;
  // The older half goes at once: no order has to be kept for each of them.
  if (newer_.size() == kMost / 2) older_ = std::exchange(newer_, {});
  return true;
}

std::size_t SeenSignatures::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return newer_.size() + older_.size();
}

SeenSignatures::Digest SeenSignatures::digest_of(std::string_view signature) {
  constexpr std::size_t kDigits = 16;
  Digest digest{};
  for (std::size_t half = 0; half < digest.size(); ++half) {
    const std::string_view digits = signature.substr(half * kDigits, kDigits);
    std::from_chars(digits.data(), digits.data() + digits.size(), digest[half], 16);
  }
  return digest;
}

}  // namespace xleak::kernel
