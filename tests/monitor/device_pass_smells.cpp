#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "detect.hpp"
#include "scripted_probes.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

/// A device of 1000 MiB and what cell 5 did there.
DeviceState device(std::string name, std::int64_t before_mib, std::int64_t peak_mib,
                   std::int64_t after_mib) {
  DeviceState state{std::move(name), after_mib * kMiB, 1000 * kMiB, 0, 0};
  state.total_bytes = 1000 * kMiB;
  state.last_used = DeviceCell{5, before_mib * kMiB, peak_mib * kMiB, after_mib * kMiB};
  return state;
}

std::vector<Finding> detect_on(std::string_view code, std::vector<DeviceState> devices,
                               std::vector<Holder> holders) {
  SessionView view;
  view.cell = 6;
  view.devices = std::move(devices);
  view.holders = std::move(holders);
  return detect(code, view);
}

Holder weights(std::int64_t mib, int cell = 5) {
  return {"weights", "weights on cuda:0", mib * kMiB, cell, "cuda:0", 1, ""};
}

Holder product(std::int64_t mib, int cell, std::string release) {
  const int kept = release.empty() ? 0 : 1;
  return {"matrix product", "a @ a.T", mib * kMiB, cell, "cuda:0", kept, std::move(release)};
}

}  // namespace

TEST_SUITE("device_pass_smells") {
  TEST_CASE("a product of a quarter of the device is told with its share") {
    const auto findings =
        detect_on("XL602", {device("cuda:0", 10, 300, 270)}, {product(250, 5, "del b")});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 250 * kMiB);
    CHECK(findings[0].fixes[0].code == "del b");
    CHECK(findings[0].severity == Severity::warning);
    CHECK(findings[0].message.find("`a @ a.T` makes 250 MiB in one piece, 25 % of cuda:0") == 0);
    CHECK(detect_on("XL602", {device("cuda:0", 10, 300, 270)}, {product(249, 5, "del b")}).empty());
  }

  TEST_CASE("a product that is gone promises nothing, and goes with the next use of the device") {
    const auto findings =
        detect_on("XL602", {device("cuda:0", 10, 300, 10)}, {product(250, 5, "")});
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].fixes.empty());
    CHECK(detect_on("XL602", {device("cuda:0", 10, 300, 10)}, {product(250, 4, "")}).empty());
    CHECK(detect_on("XL602", {device("cuda:0", 10, 300, 270)}, {product(250, 4, "del b")}).size() ==
          1);
  }

  TEST_CASE("a device that does not tell its size is no measure of anything") {
    DeviceState unknown = device("cuda:0", 10, 950, 10);
    unknown.total_bytes.reset();
    CHECK(detect_on("XL602", {unknown}, {product(900, 5, "del b")}).empty());
    CHECK(detect_on("XL603", {unknown}, {weights(1)}).empty());
    CHECK(
        detect_on("XL608", {unknown}, {{"data parallel", "net", 0, {}, "cuda:0", 2, ""}}).empty());
  }

  TEST_CASE("training that fills the device with what only passes is told") {
    const auto findings = detect_on("XL603", {device("cuda:0", 20, 920, 30)}, {weights(5)});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 5);
    CHECK_FALSE(findings[0].severity);
    CHECK(findings[0].message.find(
              "Training had 92 % of cuda:0 at its peak, 890 MiB of it only in passing") == 0);
    CHECK(detect_on("XL603", {device("cuda:0", 20, 899, 30)}, {weights(5)}).empty());
  }

  TEST_CASE("data that stays, weights and what trains them are no batch") {
    CHECK(detect_on("XL603", {device("cuda:0", 400, 920, 30)}, {weights(5)}).empty());
    CHECK(detect_on("XL603", {device("cuda:0", 20, 920, 400)}, {weights(5)}).empty());
    CHECK(detect_on("XL603", {device("cuda:0", 20, 920, 30)}, {weights(100)}).empty());
  }

  TEST_CASE("a peak of a cell that trained nothing there is no batch") {
    CHECK(detect_on("XL603", {device("cuda:0", 20, 920, 30)}, {weights(5, 4)}).empty());
    CHECK(detect_on("XL603", {device("cuda:0", 20, 920, 30)}, {}).empty());
  }

  TEST_CASE("a pass that ran out counts what it asked for, and is a warning") {
    const Holder failed{
        "out of memory in a pass", "forward pass of cell 5", 600 * kMiB, 5, "cuda:0", 1, ""};
    const auto findings =
        detect_on("XL603", {device("cuda:0", 100, 500, 400)}, {weights(50), failed});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::warning);
    CHECK(findings[0].message.find("The forward pass of cell 5 ran out of memory on cuda:0: it had "
                                   "500 MiB of 1000 MiB and asked for 600 MiB more, and 100 MiB") ==
          0);
    // The device was full of something else.
    CHECK(detect_on("XL603", {device("cuda:0", 480, 500, 500)}, {weights(50), failed}).empty());
    CHECK(detect_on("XL603", {device("cuda:0", 100, 500, 400)}, {weights(480), failed}).empty());
  }

  TEST_CASE("a first device with half as much again as the others is told") {
    const Holder net{"data parallel", "net", 0, {}, "cuda:0", 3, ""};
    const auto others = [](std::int64_t first) {
      return std::vector<DeviceState>{device("cuda:0", 20, first, 20), device("cuda:1", 0, 200, 0),
                                      device("cuda:2", 0, 200, 0)};
    };
    const auto findings = detect_on("XL608", others(320), {net});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("At its peak the cell had 320 MiB on cuda:0 and 200 MiB on "
                                   "each other device of `net`") == 0);
    CHECK(detect_on("XL608", others(319), {net}).empty());
    CHECK(detect_on("XL608", others(320), {}).empty());
  }

  TEST_CASE("the state of an optimizer alone makes no first device lopsided") {
    const Holder net{"data parallel", "net", 0, {}, "cuda:0", 2, ""};
    CHECK(detect_on("XL608", {device("cuda:0", 200, 400, 200), device("cuda:1", 0, 200, 0)}, {net})
              .empty());
  }

  TEST_CASE("devices that had no part in the cell are not compared") {
    const Holder net{"data parallel", "net", 0, {}, "cuda:0", 2, ""};
    CHECK(detect_on("XL608", {device("cuda:0", 20, 900, 20), device("cuda:1", 0, 0, 0)}, {net})
              .empty());
    DeviceState earlier = device("cuda:1", 0, 100, 0);
    earlier.last_used->cell = 3;
    CHECK(detect_on("XL608", {device("cuda:0", 20, 900, 20), earlier}, {net}).empty());
  }

  TEST_CASE("runs that add up on a GPU are told with their sizes") {
    const Holder runs{"runs on a gpu",
                      "GPU:0, from cell 2 on",
                      48 * kMiB,
                      2,
                      "16 MiB, 32 MiB, 48 MiB, 64 MiB",
                      5,
                      ""};
    const auto findings = detect("XL507", runs);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 48 * kMiB);
    CHECK(findings[0].message.find("Each run leaves more on GPU:0, from cell 2 on: 16 MiB, 32 MiB, "
                                   "48 MiB, 64 MiB, and 5 Keras models are alive") == 0);
  }

  TEST_CASE("a batch that did not fit is told with what a sample takes") {
    const Holder failed{"keras batch out of memory",
                        "fit of cell 5",
                        2048 * kMiB,
                        5,
                        "a tensor of [512, 1048576] on GPU:0",
                        512,
                        ""};
    const auto findings = detect("XL514", failed);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::warning);
    CHECK(findings[0].message.find("A batch of 512 ran out of memory in fit of cell 5: a tensor of "
                                   "[512, 1048576] on GPU:0 takes 2 GiB "
                                   "in one piece, each sample 4 MiB of it.") == 0);
  }

  TEST_CASE("batches of Keras that nearly fill a GPU are a note") {
    const Holder fitted{"keras batches", "batches on GPU:0", 0, 5, "GPU:0", 1, ""};
    CHECK(detect_on("XL514", {device("GPU:0", 100, 950, 120)}, {fitted}).size() == 1);
    CHECK(detect_on("XL514", {device("GPU:0", 400, 950, 120)}, {fitted}).empty());
    CHECK(detect_on("XL514", {device("GPU:0", 100, 890, 120)}, {fitted}).empty());
  }

  TEST_CASE("the session tells its smells of the last cell that used a device") {
    ScriptedSession s;
    const auto reading = [](std::int64_t allocated, std::int64_t handed_out, std::int64_t peak) {
      return InterpreterReading{
          std::nullopt,
          {{"cuda:0", allocated, 0, 0, 0, handed_out, peak, std::int64_t{1000} * kMiB}}};
    };
    const auto used = reading(20 * kMiB, 990 * kMiB, 950 * kMiB);
    s.cell([] {}, reading(20 * kMiB, 20 * kMiB, 0), used);
    s.cell([] {}, used, reading(20 * kMiB, 990 * kMiB, 20 * kMiB));
    const auto added = s.session.judge({2, {}, {}, {weights(1, 1)}, {}}).added;
    REQUIRE(added.size() == 1);
    CHECK(added[0].finding.cause_cell == 1);
    s.cell([] {}, used, reading(21 * kMiB, 991 * kMiB, 21 * kMiB));
    CHECK(s.session.judge({3, {}, {}, {weights(1, 1)}, {}}).resolved.size() == 1);
  }
}
