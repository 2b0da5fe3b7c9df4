#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("remade_object_smells") {
  TEST_CASE("layers that passes leave are told with their bytes and the code that drops them") {
    const Holder layers{"layers of forward passes", "mixer.gates", 6 * kMiB, 1, "Linear", 6,
                        "mixer.gates.clear()"};
    const auto findings = detect("XL112", layers);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 6 * kMiB);
    CHECK(findings[0].fixes.at(0).code == "mixer.gates.clear()");
    CHECK(findings[0].message.find("mixer.gates has 6 Linear layers") == 0);
  }

  TEST_CASE("optimizers of dropped models and of the same weights have sentences of their own") {
    const Holder models{"optimizers without a model", "runs", 2 * kMiB, 1, "Adam", 3, ""};
    CHECK(detect("XL306", models).at(0).message.find("whose models are gone") != std::string::npos);
    const Holder same{"optimizers of the same weights", "runs", 2 * kMiB, 1, "Adam", 3, ""};
    const auto findings = detect("XL306", same);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].message.find("that a later one trains") != std::string::npos);
  }

  TEST_CASE("a stray tensor is told with both devices") {
    const Holder stray{"stray tensor", "net.grid", 0, std::nullopt, "cpu, cuda:0", 1, ""};
    const auto findings = detect("XL606", stray);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find("net.grid lies on cpu, the weights of its module on cuda:0") ==
          0);
  }

  TEST_CASE("loaders and iterators that keep workers are a warning, of unknown bytes") {
    const Holder loaders{"loaders", "history", kMiB, 2, "3 worker processes", 3, ""};
    const Holder iterators{"iterators", "feeds", 0, 2, "3 worker processes", 3, ""};
    CHECK(detect("XL305", loaders).at(0).severity == Severity::warning);
    CHECK_FALSE(detect("XL305", loaders).at(0).bytes);
    CHECK(detect("XL320", iterators).at(0).severity == Severity::warning);
    CHECK(detect("XL305", iterators).empty());
    CHECK(detect("XL320", loaders).empty());
  }
}
