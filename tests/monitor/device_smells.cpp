#include <doctest/doctest.h>

#include <string_view>

#include "detect.hpp"
#include "scripted_probes.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

std::vector<Finding> detect_on(std::string_view code, const DeviceState& device) {
  SessionView view;
  view.cell = 6;
  view.devices = {device};
  return detect(code, view);
}

InterpreterReading reading(std::int64_t allocated, std::int64_t reserved, std::int64_t split,
                           std::int64_t handed_out) {
  return {std::nullopt, {{"cuda:0", allocated, reserved, 0, split, handed_out}}};
}

}  // namespace

TEST_SUITE("device_smells") {
  TEST_CASE("pieces between blocks in use are told with all three sizes") {
    const auto findings = detect_on("XL604", {"cuda:0", 200 * kMiB, 600 * kMiB, 300 * kMiB, 0});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cell == 6);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find(
              "On cuda:0 torch holds 600 MiB for tensors of 200 MiB: 300 MiB lie in pieces") == 0);
  }

  TEST_CASE("a cache of whole segments is no fragmentation") {
    CHECK(detect_on("XL604", {"cuda:0", 200 * kMiB, 600 * kMiB, 179 * kMiB, 0}).empty());
    CHECK(detect_on("XL604", {"cuda:0", 200 * kMiB, 600 * kMiB, 180 * kMiB, 0}).size() == 1);
  }

  TEST_CASE("less than 256 MiB or up to half as much again is no fragmentation") {
    CHECK(detect_on("XL604", {"cuda:0", 100 * kMiB, 355 * kMiB, 200 * kMiB, 0}).empty());
    CHECK(detect_on("XL604", {"cuda:0", 100 * kMiB, 356 * kMiB, 200 * kMiB, 0}).size() == 1);
    CHECK(detect_on("XL604", {"cuda:0", 2000 * kMiB, 3000 * kMiB, 950 * kMiB, 0}).empty());
  }

  TEST_CASE("what a device does not tell is no finding") {
    CHECK(detect_on("XL604", {"mps:0", 1, 900 * kMiB, {}, 9}).empty());
    CHECK(detect_on("XL601", {"mps:0", {}, 900 * kMiB, 0, 9}).empty());
  }

  TEST_CASE("a cache is told once three cells asked for nothing there") {
    CHECK(detect_on("XL601", {"cuda:0", kMiB, 600 * kMiB, 9 * kMiB, 2}).empty());
    const auto findings = detect_on("XL601", {"cuda:0", kMiB, 600 * kMiB, 9 * kMiB, 3});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 590 * kMiB);
    CHECK(findings[0].fixes[0].code == "%release_cache --caches");
  }

  TEST_CASE("a cache beside tensors in use is at work") {
    CHECK(detect_on("XL601", {"cuda:0", 31 * kMiB, 600 * kMiB, 0, 9}).empty());
    CHECK(detect_on("XL601", {"cuda:0", 30 * kMiB, 600 * kMiB, 0, 9}).size() == 1);
  }

  TEST_CASE("the session tells its smells how long a device was idle") {
    ScriptedSession s;
    const auto cached = reading(0, 600 * kMiB, 0, 900 * kMiB);
    s.cell([] {}, reading(0, 0, 0, 0), cached);
    for (int i = 0; i < 2; ++i) s.cell([] {}, cached, cached);
    CHECK(s.session.judge({3, {}, {}, {}, {}}).added.empty());
    // One that only looks at the session is not counted.
    s.cell([] {}, cached, cached);
    s.session.mark_own(4);
    CHECK(s.session.judge({4, {}, {}, {}, {}}).added.empty());
    s.cell([] {}, cached, cached);
    const auto added = s.session.judge({5, {}, {}, {}, {}}).added;
    REQUIRE(added.size() == 1);
    CHECK(added[0].finding.message.find("3 cells asked for none") != std::string::npos);
    s.cell([] {}, cached, reading(0, 0, 0, 900 * kMiB));
    CHECK(s.session.judge({6, {}, {}, {}, {}}).resolved.size() == 1);
  }

  TEST_CASE("a running cell leaves what the last one told") {
    ScriptedSession s;
    const auto split = reading(200 * kMiB, 600 * kMiB, 300 * kMiB, 900 * kMiB);
    s.cell([] {}, reading(0, 0, 0, 0), split);
    s.session.begin_cell({}, split);
    CHECK(s.session.judge({1, {}, {}, {}, {}}).added.size() == 1);
  }
}
