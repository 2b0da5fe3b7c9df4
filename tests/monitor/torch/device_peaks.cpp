#include "torch/device_peaks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

using namespace xleak::libtorch;

namespace {

// Counts and tells as torch's allocator of one device does it.
class ScriptedDevice {
 public:
  explicit ScriptedDevice(DevicePeaks& peaks, DeviceCounters counters = {}, int device = 0)
      : peaks_(peaks), counters_(counters), device_(device) {}

  void allocate(std::int64_t bytes) {
    const std::lock_guard guard(lock_);
    peaks_.event(device_, counters_);
    counters_.live_bytes += bytes;
    counters_.handed_out_bytes += bytes;
    true_peak_bytes = std::max(true_peak_bytes, counters_.live_bytes);
  }
  void free(std::int64_t bytes) {
    const std::lock_guard guard(lock_);
    counters_.live_bytes -= bytes;
    counters_.freed_bytes += bytes;
    peaks_.event(device_, counters_);
  }
  void set_sums_back() {
    const std::lock_guard guard(lock_);
    counters_.handed_out_bytes = counters_.freed_bytes = 0;
  }
  DeviceCounters counters() {
    const std::lock_guard guard(lock_);
    return counters_;
  }
  void begin_cell(int index) {
    peaks_.begin_cell(index);
    peaks_.reading(device_, counters());
  }
  std::vector<DevicePeaks::Peak> end_cell(int index) {
    peaks_.reading(device_, counters());
    return peaks_.end_cell(index);
  }

  std::int64_t true_peak_bytes = 0;

 private:
  DevicePeaks& peaks_;
  std::mutex lock_;
  DeviceCounters counters_;
  int device_;
};

using Peaks = std::vector<DevicePeaks::Peak>;

}  // namespace

TEST_SUITE("device_peaks") {
  TEST_CASE("the peak of a cell is what was live before it and the most that came on top") {
    DevicePeaks peaks(1);
    // 100 bytes were live before anybody followed, and more had been once.
    ScriptedDevice device(peaks, {100, 900, 800});
    device.begin_cell(1);
    device.allocate(50);
    device.allocate(30);
    device.free(50);
    device.allocate(40);
    device.free(70);
    CHECK(device.end_cell(1) == Peaks{{0, 180}});
  }

  TEST_CASE("an allocation that nothing follows counts") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.begin_cell(1);
    device.allocate(50);
    CHECK(device.end_cell(1) == Peaks{{0, 50}});
  }

  TEST_CASE("a cell's peak is its own where an earlier one stands higher") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.begin_cell(1);
    device.allocate(1000);
    device.free(1000);
    CHECK(device.end_cell(1) == Peaks{{0, 1000}});
    device.begin_cell(2);
    device.allocate(10);
    device.free(10);
    CHECK(device.end_cell(2) == Peaks{{0, 10}});
  }

  TEST_CASE("what came between cells is live in the next one, and no peak of its own there") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.allocate(500);
    device.free(500);
    device.allocate(7);
    device.begin_cell(1);
    CHECK(device.end_cell(1) == Peaks{{0, 7}});
  }

  TEST_CASE("a cell that only frees has its peak at its start") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks, {100, 100, 0});
    device.begin_cell(1);
    device.free(60);
    device.free(40);
    CHECK(device.end_cell(1) == Peaks{{0, 100}});
  }

  TEST_CASE("the user may set the sums back at any time") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks, {100, 900, 800});
    device.begin_cell(1);
    device.allocate(50);
    device.set_sums_back();
    SUBCASE("before a free") { device.free(50); }
    SUBCASE("before an allocation") {
      device.free(150);
      device.set_sums_back();
      device.allocate(20);
    }
    SUBCASE("at the end") {}
    CHECK(device.end_cell(1) == Peaks{{0, 150}});
  }

  TEST_CASE("a reading that an event overtook lowers nothing and raises nothing") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.begin_cell(1);
    const DeviceCounters old = device.counters();
    device.allocate(30);
    device.free(30);
    device.allocate(10);
    device.free(10);
    peaks.reading(0, old);
    device.allocate(5);
    CHECK(device.end_cell(1) == Peaks{{0, 30}});
  }

  TEST_CASE("cells that overlap have a peak each") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.begin_cell(1);
    device.allocate(100);
    device.free(100);
    device.begin_cell(2);
    device.allocate(20);
    CHECK(device.end_cell(1) == Peaks{{0, 100}});
    device.allocate(5);
    CHECK(device.end_cell(2) == Peaks{{0, 25}});
  }

  TEST_CASE("cells that never end make room for later ones") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks, {7, 7, 0});
    for (int index = 1; index <= 100; ++index) device.begin_cell(index);
    CHECK(device.end_cell(1).empty());
    CHECK(device.end_cell(100) == Peaks{{0, 7}});
  }

  TEST_CASE("devices are counted apart, and one that nobody read is unknown") {
    DevicePeaks peaks(3);
    ScriptedDevice first(peaks, {}, 0);
    ScriptedDevice third(peaks, {}, 2);
    first.begin_cell(1);
    first.allocate(8);
    third.allocate(9);
    third.free(9);
    CHECK(first.end_cell(1) == Peaks{{0, 8}, {2, 9}});
  }

  TEST_CASE("a cell that did not begin has no peak, and a device beyond the last is left out") {
    DevicePeaks peaks(1);
    peaks.event(1, {5, 5, 0});
    peaks.event(-1, {5, 5, 0});
    CHECK(peaks.end_cell(4).empty());
    peaks.begin_cell(5);
    CHECK(peaks.end_cell(5).empty());
  }

  TEST_CASE("threads that allocate at once, and one that reads, leave it exact") {
    DevicePeaks peaks(1);
    ScriptedDevice device(peaks);
    device.begin_cell(1);
    std::vector<std::thread> threads;
    for (int thread = 1; thread <= 4; ++thread) {
      threads.emplace_back([&device, thread] {
        for (int round = 0; round < 2000; ++round) {
          const std::int64_t bytes = thread * 100 + round % 7;
          device.allocate(bytes);
          device.allocate(bytes * 2);
          device.free(bytes * 2);
          device.free(bytes);
        }
      });
    }
    threads.emplace_back([&device, &peaks] {
      for (int round = 0; round < 2000; ++round) peaks.reading(0, device.counters());
    });
    for (std::thread& thread : threads) thread.join();
    CHECK(device.end_cell(1) == Peaks{{0, device.true_peak_bytes}});
  }
}
