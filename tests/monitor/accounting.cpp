#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "scripted_probes.hpp"

using namespace xleak::monitor;

namespace {

/// A process whose mark is its own: getrusage shows it.
std::shared_ptr<Script> own_mark(std::int64_t bytes) {
  auto script = std::make_shared<Script>();
  script->high_water_bytes = bytes;
  script->usage.max_resident_bytes = bytes;
  return script;
}

/// A process of a parent that was larger: getrusage shows the parent's mark.
std::shared_ptr<Script> inherited_mark(std::int64_t bytes, std::int64_t of_parent) {
  auto script = own_mark(bytes);
  script->usage.max_resident_bytes = of_parent;
  return script;
}

}  // namespace

TEST_SUITE("accounting") {
  TEST_CASE("a cell is recorded with what it kept") {
    ScriptedSession s;
    s.script->heap_used_bytes = 10;
    const auto record = s.cell([&] {
      s.script->resident_bytes = 1600;
      s.script->heap_used_bytes = 110;
      s.script->heap_free_bytes = 7;
      s.script->usage = {0.5, 3, 1, 0};
      s.script->now_ns = 2'000'000'000;
    });
    CHECK(record.index == 1);
    CHECK(record.status == CellStatus::ok);
    CHECK(record.seconds == doctest::Approx(2.0));
    CHECK(record.cpu_seconds == doctest::Approx(0.5));
    CHECK(record.resident_before_bytes == 1000);
    CHECK(record.resident_after_bytes == 1600);
    CHECK(record.heap_kept_bytes == 100);
    CHECK(record.heap_free_bytes == 7);
    CHECK(record.minor_faults == 3);
    CHECK(record.major_faults == 1);
  }

  TEST_CASE("large blocks are born in the cell that runs, and in none between cells") {
    ScriptedSession s;
    s.script->block_use = BlockUse{10, 30, {{7, 25}}};
    const auto record = s.cell([&] { CHECK(s.script->births_of == std::vector{1}); });
    CHECK(s.script->births_of == std::vector{1, 0});
    REQUIRE(record.blocks);
    CHECK(record.blocks->alive_bytes == 10);
    CHECK(record.blocks->peak_bytes == 30);
    CHECK(record.blocks->at_peak.at(0).site == 7);
  }

  TEST_CASE("the small heap is what malloc gave out beside the large blocks") {
    ScriptedSession s;
    s.script->heap_used_bytes = 1000;
    s.script->heap_small_bytes = 700;
    const auto record = s.cell([&] {
      s.script->heap_used_bytes = 1240;
      s.script->heap_small_bytes = 740;
    });
    CHECK(record.heap_kept_bytes == 240);
    CHECK(record.small_heap_kept_bytes == 40);
  }

  TEST_CASE(
      "where the heap was not read before a cell its last reading is what the cell began with") {
    ScriptedSession s;
    s.script->heap_small_bytes = 700;
    s.script->heap_free_pieces = 100'000;
    s.cell([] {});
    const auto record = s.cell([&] {
      s.script->heap_small_bytes = 740;
      s.script->resident_bytes += 1 << 20;
    });
    CHECK_FALSE(record.heap_kept_bytes);
    CHECK(record.small_heap_kept_bytes == 40);
  }

  TEST_CASE("without large blocks known nobody says what the small heap kept") {
    ScriptedSession s;
    CHECK_FALSE(s.cell([] {}).small_heap_kept_bytes);
  }

  TEST_CASE("of cells that overlap the youngest has the births, and the older one no number") {
    ScriptedSession s;
    s.script->block_use = BlockUse{};
    const int older = s.session.begin_cell({}, {});
    const int younger = s.session.begin_cell({}, {});
    s.session.end_cell(younger, CellStatus::ok, std::nullopt, {});
    CHECK(s.script->births_of == std::vector{1, 2, 1});
    CHECK(s.session.record(younger)->blocks);
    const int third = s.session.begin_cell({}, {});
    s.session.end_cell(older, CellStatus::ok, std::nullopt, {});
    CHECK_FALSE(s.session.record(older)->blocks);
    s.session.end_cell(third, CellStatus::ok, std::nullopt, {});
    CHECK(s.script->births_of.back() == 0);
  }

  TEST_CASE("where the ledger is off what it would say is unknown") {
    ScriptedSession s;
    CHECK_FALSE(s.cell([] {}).blocks);
  }

  TEST_CASE("the youngest of the cells that run is told as it is now, and none between cells") {
    ScriptedSession s;
    CHECK_FALSE(s.session.running());
    s.cell([&] {
      s.script->now_ns = 3'000'000'000;
      s.script->resident_bytes = 1600;
      const auto running = s.session.running();
      REQUIRE(running);
      CHECK(running->index == 1);
      CHECK(running->seconds == doctest::Approx(3.0));
      CHECK(running->resident_before_bytes == 1000);
      CHECK(running->resident_bytes == 1600);
      s.cell([&] { CHECK(s.session.running()->index == 2); });
      s.script->resident_bytes = Script::kUnknown;
      CHECK_FALSE(s.session.running());
    });
    CHECK_FALSE(s.session.running());
  }

  TEST_CASE("the peak is exact where the high-water mark rose") {
    ScriptedSession s(own_mark(5000));
    const auto record = s.cell([&] {
      s.script->high_water_bytes = 9000;
      s.script->usage.max_resident_bytes = 9000;
    });
    CHECK(record.resident_peak_bytes == 9000);
    CHECK(record.peak_is_exact);
  }

  TEST_CASE("how much a cell moved is told by the counter that moved most") {
    ScriptedSession s(own_mark(5000));
    s.script->heap_used_bytes = 500;
    s.cell([&] {
      s.script->heap_used_bytes = 100;
      s.script->resident_bytes = 1300;
    });
    CHECK(s.session.change_of(1).moved_bytes == 400);
    CHECK(s.session.change_of(1).kept_bytes == -400);
    CHECK(s.session.change_of(1).heap_is_known);
    CHECK(!s.session.change_of(2).heap_is_known);
  }

  TEST_CASE("a cell of xleak's own keeps its record, and nothing is concluded from its numbers") {
    ScriptedSession s(own_mark(5000));
    const auto grow = [&] { s.script->resident_bytes = s.script->resident_bytes + 700; };
    s.cell(grow);
    s.cell(grow);
    s.session.mark_own(2);
    s.session.mark_own(9);
    CHECK_FALSE(s.session.record(1)->is_own);
    CHECK(s.session.record(2)->is_own);
    CHECK(*s.session.record(2)->resident_after_bytes -
              *s.session.record(2)->resident_before_bytes ==
          700);
    CHECK(s.session.change_of(1).moved_bytes == 700);
    CHECK(s.session.change_of(2).moved_bytes == 0);
    CHECK(s.session.change_of(2).heap_is_known);
  }

  TEST_CASE("what the process takes now is read between cells too") {
    ScriptedSession s;
    CHECK(s.session.resident_bytes() == 1000);
    s.script->resident_bytes = 400;
    CHECK(s.session.resident_bytes() == 400);
    s.script->resident_bytes = Script::kUnknown;
    CHECK_FALSE(s.session.resident_bytes());
  }

  TEST_CASE("a peak above the end of its cell is told as a spike") {
    ScriptedSession s(own_mark(5000));
    s.cell([&] {
      s.script->high_water_bytes = 9000;
      s.script->usage.max_resident_bytes = 9000;
    });
    CHECK(s.session.change_of(1).spike_bytes == 8000);
    CHECK(s.session.change_of(2).spike_bytes == 0);
  }

  TEST_CASE("a mark that rises below that of the parent process is seen too") {
    ScriptedSession s(inherited_mark(5000, 80000));
    const auto record = s.cell([&] { s.script->high_water_bytes = 9000; });
    CHECK(record.resident_peak_bytes == 9000);
    CHECK(record.peak_is_exact);
    CHECK_FALSE(s.cell([] {}).peak_is_exact);
  }

  TEST_CASE("the mark of the parent process is never a peak") {
    ScriptedSession s(inherited_mark(5000, 80000));
    CHECK(s.cell([] {}).resident_peak_bytes == 1000);
    const auto record = s.cell([&] {
      s.script->high_water_bytes = 90000;
      s.script->usage.max_resident_bytes = 90000;
    });
    CHECK(record.resident_peak_bytes == 90000);
    CHECK(record.peak_is_exact);
  }

  TEST_CASE("a mark that cannot be read makes no peak exact") {
    ScriptedSession s(own_mark(5000));
    const auto record = s.cell([&] {
      s.script->high_water_bytes = Script::kUnknown;
      s.script->usage.max_resident_bytes = 9000;
    });
    CHECK(record.resident_peak_bytes == 1000);
    CHECK_FALSE(record.peak_is_exact);
  }

  TEST_CASE("where the mark did not rise the peak is the most that was seen") {
    ScriptedSession s;
    const auto record = s.cell([&] { s.script->resident_bytes = 1400; });
    CHECK(record.resident_peak_bytes == 1400);
    CHECK_FALSE(record.peak_is_exact);
  }

  TEST_CASE("the peak of a cell that freed memory is what it began with") {
    ScriptedSession s;
    CHECK(s.cell([&] { s.script->resident_bytes = 300; }).resident_peak_bytes == 1000);
  }

  TEST_CASE("a probe that cannot read leaves the number unknown, not zero") {
    ScriptedSession s;
    const auto record = s.cell([&] {
      s.script->resident_bytes = Script::kUnknown;
      s.script->high_water_bytes = Script::kUnknown;
      s.script->heap_used_bytes = Script::kUnknown;
    });
    CHECK(record.resident_before_bytes == 1000);
    CHECK_FALSE(record.resident_after_bytes);
    CHECK_FALSE(record.resident_peak_bytes);
    CHECK_FALSE(record.peak_is_exact);
    CHECK_FALSE(record.heap_kept_bytes);
    CHECK_FALSE(record.heap_free_bytes);
  }

  TEST_CASE("python blocks are counted from the end of the last cell that was") {
    ScriptedSession s;
    CHECK_FALSE(s.cell([] {}, {}, {100, {}}).python_blocks_kept);
    CHECK(s.cell([] {}, {}, {130, {}}).python_blocks_kept == 30);
    CHECK_FALSE(s.cell([] {}, {}, {std::nullopt, {}}).python_blocks_kept);
    CHECK(s.cell([] {}, {}, {200, {}}).python_blocks_kept == 70);
  }

  TEST_CASE("what xleak itself made between two cells is kept by none") {
    ScriptedSession s;
    s.session.exclude_python_use(5, 500);
    CHECK_FALSE(s.cell([] {}, {}, {100, {}, {}, 1000}).python_bytes_kept);
    s.session.exclude_python_use(20, 300);
    const auto record = s.cell([] {}, {}, {130, {}, {}, 1350});
    CHECK(record.python_blocks_kept == 10);
    CHECK(record.python_bytes_kept == 50);
  }

  TEST_CASE("blocks made while accounting was off belong to no cell") {
    ScriptedSession s;
    s.cell([] {}, {}, {100, {}});
    s.session.set_enabled(false);
    s.session.set_enabled(true);
    CHECK_FALSE(s.cell([] {}, {}, {900, {}}).python_blocks_kept);
  }

  TEST_CASE("devices are recorded") {
    ScriptedSession s;
    const auto record =
        s.cell([] {}, {std::nullopt, {{"cuda:0", 5, 8, 5}}}, {std::nullopt, {{"cuda:0", 7, 8, 9}}});
    REQUIRE(record.devices.size() == 1);
    CHECK(record.devices[0].allocated_kept_bytes == 2);
    CHECK(record.devices[0].allocated_peak_bytes == 9);
  }

  TEST_CASE("what tensors did is recorded where it was counted, else unknown") {
    ScriptedSession s;
    const int counted = s.session.begin_cell({}, {});
    s.session.end_cell(counted, CellStatus::ok, std::nullopt, {std::nullopt, {}, TensorUse{-3, 8}});
    const int unknown = s.session.begin_cell({}, {});
    s.session.end_cell(unknown, CellStatus::ok, std::nullopt, {});
    REQUIRE(s.session.record(counted)->tensors);
    CHECK(s.session.record(counted)->tensors->kept_bytes == -3);
    CHECK(s.session.record(counted)->tensors->peak_bytes == 8);
    CHECK_FALSE(s.session.record(unknown)->tensors);
  }

  TEST_CASE("overlapping cells keep their own numbers") {
    ScriptedSession s;
    const int outer = s.session.begin_cell({"a", 1}, {});
    s.script->resident_bytes = 2000;
    const int inner = s.session.begin_cell({"b", std::nullopt}, {});
    s.script->resident_bytes = 3000;
    s.session.end_cell(outer, CellStatus::ok, std::nullopt, {});
    s.script->resident_bytes = 4000;
    s.session.end_cell(inner, CellStatus::error, 2, {});
    const auto records = s.session.records();
    REQUIRE(records.size() == 2);
    CHECK(records[0].resident_before_bytes == 1000);
    CHECK(records[0].resident_after_bytes == 3000);
    CHECK(records[0].identity.execution_count == 1);
    CHECK(records[1].resident_before_bytes == 2000);
    CHECK(records[1].resident_after_bytes == 4000);
    CHECK(records[1].status == CellStatus::error);
    CHECK(records[1].identity.execution_count == 2);
    CHECK(records[1].identity.cell_id == "b");
  }

  TEST_CASE("a cell that did not end is running") {
    ScriptedSession s;
    const int index = s.session.begin_cell({}, {});
    CHECK(s.session.record(index)->status == CellStatus::running);
    CHECK_FALSE(s.session.record(index)->resident_after_bytes);
  }

  TEST_CASE("a cell that runs is told with where it began, and no more once it has ended") {
    std::mutex mutex;
    std::vector<LiveCell> told;
    ScriptedSession scripted;
    scripted.session.follow([&](const LiveCell& cell) {
      const std::lock_guard lock(mutex);
      told.push_back(cell);
    });
    const auto count = [&] {
      const std::lock_guard lock(mutex);
      return told.size();
    };
    CellIdentity identity;
    identity.cell_id = "8f1c";
    const int index = scripted.session.begin_cell(identity, {});
    scripted.script->resident_bytes = 7000;
    while (count() == 0) std::this_thread::yield();
    scripted.session.end_cell(index, CellStatus::ok, std::nullopt, {});
    const auto before = count();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(count() == before);
    CHECK(told[0].index == index);
    CHECK(told[0].cell_id == "8f1c");
    CHECK(told[0].seconds >= 0.25);
    CHECK(told[0].resident_before_bytes == 1000);
    CHECK(told[0].resident_bytes == 7000);
  }

  TEST_CASE("a cell that runs is told with the devices that are in use") {
    std::mutex mutex;
    std::vector<LiveCell> told;
    ScriptedSession scripted;
    scripted.session.read_devices_by([](char(*names)[kDeviceNameSize], std::int64_t* allocated,
                                        std::int64_t* reserved, std::size_t most) noexcept {
      if (most < 1) return std::size_t{0};
      std::strcpy(names[0], "cuda:0");
      allocated[0] = 5;
      reserved[0] = 8;
      return std::size_t{1};
    });
    scripted.session.follow([&](const LiveCell& cell) {
      const std::lock_guard lock(mutex);
      told.push_back(cell);
    });
    const int index = scripted.session.begin_cell({}, {});
    const auto cells = [&] {
      const std::lock_guard lock(mutex);
      return told;
    };
    while (cells().empty()) std::this_thread::yield();
    scripted.session.end_cell(index, CellStatus::ok, std::nullopt, {});
    REQUIRE(cells()[0].devices.size() == 1);
    CHECK(cells()[0].devices[0].device == "cuda:0");
    CHECK(cells()[0].devices[0].allocated_bytes == 5);
    CHECK(cells()[0].devices[0].reserved_bytes == 8);
  }

  TEST_CASE("a cell whose start could not be read is not told while it runs") {
    std::atomic<int> told{0};
    ScriptedSession scripted;
    scripted.session.follow([&](const LiveCell&) { ++told; });
    scripted.script->resident_bytes = Script::kUnknown;
    const int index = scripted.session.begin_cell({}, {});
    scripted.script->resident_bytes = 7000;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    scripted.session.end_cell(index, CellStatus::ok, std::nullopt, {});
    CHECK(told == 0);
  }

  TEST_CASE("the end of a cell that is not open changes nothing") {
    ScriptedSession s;
    const auto record = s.cell([] {});
    s.script->resident_bytes = 9999;
    for (const int index : {record.index, 0, -1, 77}) {
      s.session.end_cell(index, CellStatus::error, 5, {});
    }
    REQUIRE(s.session.records().size() == 1);
    CHECK(s.session.records()[0].status == CellStatus::ok);
    CHECK(s.session.records()[0].resident_after_bytes == 1000);
  }

  TEST_CASE("there is no record of an index that was never given out") {
    ScriptedSession s;
    s.cell([] {});
    CHECK_FALSE(s.session.record(0));
    CHECK_FALSE(s.session.record(2));
    CHECK_FALSE(s.session.record(-1));
  }

  TEST_CASE("switched off, cells get no record") {
    ScriptedSession s;
    s.session.set_enabled(false);
    CHECK_FALSE(s.session.enabled());
    CHECK(s.session.begin_cell({}, {}) == 0);
    CHECK(s.session.records().empty());
  }

  TEST_CASE("a cell that is running when accounting goes off is still completed") {
    ScriptedSession s;
    const int index = s.session.begin_cell({}, {});
    s.session.set_enabled(false);
    s.session.end_cell(index, CellStatus::ok, std::nullopt, {});
    CHECK(s.session.record(index)->status == CellStatus::ok);
  }

  TEST_CASE("a cell that throws is still recorded") {
    ScriptedSession s;
    try {
      const CellScope scope(s.session, {}, {});
      throw 1;
    } catch (int) {
    }
    REQUIRE(s.session.records().size() == 1);
    CHECK(s.session.records()[0].status == CellStatus::error);
    CHECK(s.session.records()[0].resident_after_bytes == 1000);
  }

  TEST_CASE("the first completion of a cell counts") {
    ScriptedSession s;
    {
      CellScope scope(s.session, {}, {});
      scope.complete(CellStatus::ok, 3, {});
      scope.complete(CellStatus::error, 4, {});
    }
    CHECK(s.session.records()[0].status == CellStatus::ok);
    CHECK(s.session.records()[0].identity.execution_count == 3);
  }
}
