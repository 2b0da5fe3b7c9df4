#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("keras_model_smells") {
  TEST_CASE("models of a loop are told by their number, and what waits is collected") {
    const Holder models{"models of a loop",
                        "Keras models in garbage from cell 2 on",
                        12 * kMiB,
                        2,
                        "garbage",
                        4,
                        "import gc; gc.collect();"};
    const auto findings = detect("XL501", models);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK_FALSE(findings[0].severity);
    CHECK(findings[0].message.find("The cell made 4 Keras models that nothing uses") == 0);
    CHECK(findings[0].fixes[0].code == "import gc; gc.collect();");
    CHECK(detect("XL512", models).empty());
  }

  TEST_CASE("models with small weights are a note") {
    const Holder models{
        "models of runs", "Keras models in garbage from cell 2 on", 1000, 2, "garbage", 3, ""};
    const auto findings = detect("XL512", models);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::note);
  }

  TEST_CASE("models that their history keeps are told with the way to it") {
    const Holder models{"models of a loop",
                        "Keras models kept by History objects from cell 2 on",
                        kMiB,
                        2,
                        "runs[0]",
                        3,
                        ""};
    const auto findings = detect("XL501", models);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("only the `History` of their training keeps, as `runs[0]`") !=
          std::string::npos);
  }

  TEST_CASE("what Lambda layers captured is told from a mebibyte on") {
    Holder layers{"lambda layers", "Lambda layers of net", 4 * kMiB, {}, "ndarray", 1, ""};
    REQUIRE(detect("XL517", layers).size() == 1);
    CHECK(detect("XL517", layers)[0].bytes == 4 * kMiB);
    layers.held_bytes = kMiB - 1;
    CHECK(detect("XL517", layers).empty());
  }
}
