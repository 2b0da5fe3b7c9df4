#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("lambda_layer_smells") {
  TEST_CASE("what Lambda layers captured is told from a mebibyte on") {
    Holder layers{"lambda layers", "Lambda layers of net", 4 * kMiB, {}, "ndarray", 1, ""};
    REQUIRE(detect("XL517", layers).size() == 1);
    CHECK(detect("XL517", layers)[0].bytes == 4 * kMiB);
    layers.held_bytes = kMiB - 1;
    CHECK(detect("XL517", layers).empty());
  }
}
