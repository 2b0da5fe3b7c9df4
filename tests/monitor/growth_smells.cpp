#include <doctest/doctest.h>

#include <string>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

bool says(const std::vector<Finding>& findings, const std::string& text) {
  return findings.size() == 1 && findings[0].message.find(text) != std::string::npos;
}

}  // namespace

TEST_SUITE("growth_smells") {
  TEST_CASE("a container that grew is told with its elements and the cell that fills it") {
    const auto findings =
        detect("XL105", {"growing container", "taps", 5 * kMiB, 2, "tuple", 40, "taps.clear()"});
    CHECK(says(findings, "taps has grown to 40 elements and 5 MiB over several executions"));
    CHECK(findings[0].cause_cell == 2);
    CHECK(findings[0].key == "taps");
    CHECK(findings[0].fixes[0].code == "taps.clear()");
  }

  TEST_CASE("a default is a warning, and a note where it may be a memo") {
    const Holder grows{"default that grows",       "f.__defaults__[0]", 2 * kMiB, 1, "seen", 9,
                       "f.__defaults__[0].clear()"};
    Holder memo = grows;
    memo.kind = "default as a memo";
    CHECK(says(detect("XL410", grows), "The default of `seen` has collected 9 elements"));
    CHECK_FALSE(detect("XL410", grows)[0].severity.has_value());
    CHECK(detect("XL410", memo)[0].severity == Severity::note);
  }

  TEST_CASE("a registry is told with the type of what it keeps") {
    const auto findings = detect("XL409", {"growing registry", "Probe.alive", 4 * kMiB, 1, "Probe",
                                           7, "Probe.alive.clear()"});
    CHECK(says(findings, "Probe.alive has 7 entries, of type Probe, and alone keeps 4 MiB"));
  }

  TEST_CASE("a cache that grows is told from one that never hits") {
    Holder cache{"growing cache", "by_path", 4 * kMiB, 1, "ndarray", 7, "by_path.clear()"};
    CHECK(says(detect("XL109", cache), "The cache by_path has no bound"));
    cache.kind = "cache without hits";
    cache.largest = "`Timestamp`";
    CHECK(says(detect("XL109", cache), "The cache of by_path hardly ever hits"));
    CHECK(says(detect("XL109", cache), "nearly every call had a new `Timestamp`"));
    CHECK_FALSE(says(detect("XL109", cache), "ensor"));
    cache.kind = "cache of identities";
    cache.largest = "`Tensor`";
    CHECK(says(detect("XL109", cache), "a new `Tensor` never equals another one"));
  }

  TEST_CASE("one tensor on a module is a warning, a container that grows there an error") {
    Holder left{"tensor of a forward pass", "net.hidden", 4 * kMiB, 1, "hidden", 1,
                "net.hidden = None"};
    CHECK(says(detect("XL103", left), "net.hidden is a tensor that the forward pass left"));
    CHECK_FALSE(detect("XL103", left)[0].severity.has_value());
    left.kind = "growing container of a module";
    CHECK(detect("XL103", left)[0].severity == Severity::error);
  }

  TEST_CASE("a replay memory is told from a hundred entries on, a large bound makes it a warning") {
    Holder memory{
        "replay memory", "replay", 200 * kMiB, 1, "tensors with their autograd graphs", 100,
        "replay.clear()"};
    CHECK(says(detect("XL104", memory),
               "100 entries of replay hold tensors with their autograd graphs and keep 200 MiB "
               "alive, 2 MiB each"));
    memory.count = 99;
    CHECK(detect("XL104", memory).empty());
    memory.count = 100;
    memory.kind = "large replay memory";
    CHECK(detect("XL104", memory)[0].severity == Severity::warning);
  }

  TEST_CASE("what keeps less than a mebibyte is not told") {
    CHECK(detect("XL105", {"growing container", "taps", kMiB - 1, 2, "tuple", 40, "taps.clear()"})
              .empty());
  }
}
