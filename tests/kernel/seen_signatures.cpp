#include "xeus/seen_signatures.hpp"

#include <doctest/doctest.h>

#include <string>

using xleak::kernel::SeenSignatures;

namespace {

// As long as SHA-256's, its digits spread over all of it.
std::string signature(std::size_t number) {
  std::string digits;
  for (std::size_t part = 0; part < 4; ++part) {
    constexpr const char* kDigits = "0123456789abcdef";
    for (std::size_t at = 0; at < 16; ++at) digits += kDigits[(number >> (at % 5 * 4)) & 15];
  }
  return digits;
}

}  // namespace

TEST_SUITE("seen_signatures") {
  TEST_CASE("a signature is new once") {
    SeenSignatures seen;
    CHECK(seen.is_new(signature(1)));
    CHECK(seen.is_new(signature(2)));
    CHECK_FALSE(seen.is_new(signature(1)));
    CHECK_FALSE(seen.is_new(signature(2)));
    CHECK(seen.size() == 2);
  }

  TEST_CASE("signatures that differ in their second half alone are two") {
    SeenSignatures seen;
    CHECK(seen.is_new(std::string(31, 'a') + "b"));
    CHECK(seen.is_new(std::string(31, 'a') + "c"));
  }

  TEST_CASE("so many are remembered and no more") {
    SeenSignatures seen;
    for (std::size_t number = 0; number < 3 * SeenSignatures::kMost; ++number) {
      REQUIRE(seen.is_new(signature(number)));
      REQUIRE(seen.size() <= SeenSignatures::kMost);
    }
    const std::size_t last = 3 * SeenSignatures::kMost - 1;
    for (std::size_t back = 0; back < SeenSignatures::kMost / 2; ++back) {
      REQUIRE_FALSE(seen.is_new(signature(last - back)));
    }
  }
}
