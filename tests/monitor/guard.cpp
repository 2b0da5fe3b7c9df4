#include "xleak/monitor/guard.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "guard_levels.hpp"
#include "probes/cgroup.hpp"
#include "probes/limits.hpp"
#include "units.hpp"

using namespace xleak::monitor;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// A group of 1 GiB, of which this process has `own` and others the rest of `used`.
LimitReading group(std::int64_t used, std::int64_t own) {
  return {GuardLimit::cgroup, "host", used, kGiB, own, "/job"};
}

OwnMemory holding(std::int64_t held) { return {held, held, held, held}; }

std::optional<OtherProcess> nobody(const LimitReading&) { return std::nullopt; }

GuardLevels::Told at(GuardLevels& levels, std::int64_t used, double seconds) {
  return levels.observe({group(used, used)}, seconds);
}

/// A folder for the files of one test, gone with it.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "xleak-guard-XXXXXX") {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ScriptedLimits final : public GuardProbes {
 public:
  struct Script {
    std::atomic<std::int64_t> used{100 * kMiB};
    std::atomic<std::int64_t> device{0};
    std::atomic<int> reads{0};
    std::atomic<bool> signals_are_blocked{false};
  };
  explicit ScriptedLimits(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  std::optional<OwnMemory> own() noexcept override { return holding(script_->used); }
  std::vector<LimitReading> limits() noexcept override {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    script_->signals_are_blocked = sigismember(&mask, SIGINT) == 1;
    ++script_->reads;
    return {group(script_->used, script_->used)};
  }
  std::vector<DeviceReading> devices() noexcept override {
    return {{"cuda:0", script_->device.load(), script_->device.load(), std::nullopt}};
  }
  std::optional<OtherProcess> largest_other(const LimitReading&) noexcept override {
    return std::nullopt;
  }
  double seconds() noexcept override { return 0.0; }

 private:
  std::shared_ptr<Script> script_;
};

}  // namespace

TEST_SUITE("limits") {
  TEST_CASE("a process holds what is anonymous, shared or swapped, not pages of files") {
    const auto own = parse_status(
        "Name:\tpython\nVmSize:\t 900 kB\nVmRSS:\t 500 kB\nRssAnon:\t 100 kB\nRssFile:\t 360 kB\n"
        "RssShmem:\t 40 kB\nVmData:\t 300 kB\nVmSwap:\t 7 kB\n");
    REQUIRE(own);
    CHECK(own->resident_bytes == 500 * 1024);
    CHECK(own->held_bytes == 147 * 1024);
    CHECK(own->size_bytes == 900 * 1024);
    CHECK(own->data_bytes == 300 * 1024);
    CHECK_FALSE(parse_status("VmRSS:\t 500 kB\n"));
  }

  TEST_CASE("a machine uses what is not available, and has its swap too") {
    const auto machine = parse_meminfo(
        "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 700 kB\nSwapTotal: 500 kB\nSwapFree: 400 "
        "kB\n");
    REQUIRE(machine);
    CHECK(machine->used_bytes == 400 * 1024);
    CHECK(machine->limit_bytes == 1500 * 1024);
    CHECK_FALSE(parse_meminfo("MemTotal: 1000 kB\nMemFree: 10 kB\n"));
  }

  TEST_CASE("page cache of a cgroup is not used memory, active or not") {
    const std::string_view v2 =
        "anon 100\nfile 700\nactive_file 300\ninactive_file 400\nslab_reclaimable 50\n";
    CHECK(unreclaimable_v2(v2, 900) == 150);
    const std::string_view v1 = "cache 700\nrss 1\nshmem 1\ntotal_rss 100\ntotal_shmem 20\n";
    CHECK(unreclaimable_v1(v1) == 120);
    CHECK_FALSE(unreclaimable_v2("anon 100\n", 900));
    CHECK_FALSE(unreclaimable_v1("cache 700\n"));
  }

  TEST_CASE("a cgroup has its limit and the swap that it may still take") {
    const Folder mount;
    const std::string folder = mount.path() + "/job";
    std::filesystem::create_directory(folder);
    const auto write = [&folder](const char* name, const char* text) {
      std::ofstream(folder + "/" + name) << text;
    };
    write("memory.max", "1000\n");
    write("memory.current", "900\n");
    write("memory.stat", "anon 100\nactive_file 300\ninactive_file 400\n");
    const Cgroup v2(folder + "/memory.max", mount.path());
    auto reading = v2.read(50).value();
    CHECK(reading.group == "/job");
    CHECK(reading.used_bytes == 200);
    CHECK(reading.limit_bytes == 1050);
    CHECK(v2.swap_left(50) == 50);
    write("memory.swap.max", "30\n");
    write("memory.swap.current", "10\n");
    CHECK(v2.swap_left(50) == 20);
    // What is in swap already counts on both sides.
    CHECK(v2.read(20)->used_bytes == 210);
    CHECK(v2.read(20)->limit_bytes == 1030);
    write("memory.swap.max", "0\n");
    CHECK(v2.swap_left(50) == 0);
    write("memory.swap.max", "max\n");
    CHECK(v2.swap_left(50) == 50);
    // It slows down, and kills nothing.
    write("memory.high", "500\n");
    CHECK(v2.read(50)->limit_bytes == 1060);
    write("memory.max", "max\n");
    CHECK_FALSE(v2.read(50));

    write("memory.limit_in_bytes", "1000\n");
    write("memory.stat", "total_rss 100\ntotal_shmem 20\ntotal_swap 30\n");
    const Cgroup v1(folder + "/memory.limit_in_bytes", mount.path());
    CHECK(v1.read(500)->used_bytes == 150);
    CHECK(v1.read(500)->limit_bytes == 1530);
    write("memory.memsw.limit_in_bytes", "1200\n");
    CHECK(v1.read(500)->limit_bytes == 1200);
    write("memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_FALSE(v1.read(500));
  }

  TEST_CASE("a process holds alone what is dirty and private, or swapped") {
    CHECK(
        parse_unshared("5000-7000 ---p 0 00:00 0 [rollup]\nRss: 900 kB\nShared_Dirty: 40 kB\n"
                       "Private_Clean: 8 kB\nPrivate_Dirty: 35 kB\nSwap: 7 kB\nSwapPss: 2 kB\n") ==
        37 * 1024);
    CHECK_FALSE(parse_unshared("Private_Dirty: 35 kB\n"));
  }

  TEST_CASE("a child of this process is known as one, and has nothing of what it shares with it") {
    constexpr std::size_t kShared = 64u << 20, kOwn = 4u << 20;
    const std::string shared(kShared, 'x');
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const std::string own(kOwn, 'x');
      static_cast<void>(!::write(ready[1], own.data(), 1));
      ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const auto others = other_processes("");
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    const auto found = std::find_if(others.begin(), others.end(),
                                    [child](const OtherProcess& it) { return it.pid == child; });
    REQUIRE(found != others.end());
    CHECK(found->children == 1);
    CHECK(found->children_bytes == found->held_bytes);
    CHECK(found->held_bytes >= static_cast<std::int64_t>(kOwn));
    CHECK(found->held_bytes < static_cast<std::int64_t>(kShared));
  }

  TEST_CASE("this machine has a limit, and this process is below it") {
    const auto readings = live_guard_probes([] { return std::vector<DeviceReading>(); })->limits();
    REQUIRE_FALSE(readings.empty());
    for (const auto& it : readings) {
      CHECK(it.used_bytes > 0);
      CHECK(it.used_bytes < it.limit_bytes);
    }
  }
}

TEST_SUITE("guard levels") {
  TEST_CASE("a level is told when it is reached, and again only once memory was enough for long") {
    GuardLevels levels(nobody);
    CHECK(at(levels, 500 * kMiB, 0).changes.empty());
    REQUIRE(at(levels, 830 * kMiB, 1).changes.size() == 1);
    CHECK(at(levels, 840 * kMiB, 2).changes.empty());
    // Less, but not by enough; then by enough, but not for long enough.
    CHECK(at(levels, 800 * kMiB, 3).changes.empty());
    CHECK(at(levels, 500 * kMiB, 10).changes.empty());
    CHECK(at(levels, 830 * kMiB, 11).changes.empty());
    CHECK(at(levels, 500 * kMiB, 20).changes.empty());
    const auto calm = at(levels, 500 * kMiB, 22).changes;
    REQUIRE(calm.size() == 1);
    CHECK(calm[0].level == GuardLevel::normal);
  }

  TEST_CASE("a tenth of a small limit is critical, a gibibyte of a large one") {
    GuardLevels levels(nobody);
    levels.observe({{GuardLimit::machine, "host", 0, 512 * kGiB, 0, {}}, group(0, 0)}, 0);
    const auto states = levels.states();
    REQUIRE(states.size() == 2);
    CHECK(states[0].critical_bytes == 511 * kGiB);
    CHECK(states[0].warning_bytes == 508 * kGiB);
    CHECK(states[1].critical_bytes == kGiB - kGiB / 10);
    CHECK(states[1].warning_bytes == kGiB - kGiB / 5);
  }

  TEST_CASE("who comes later is told of the limits that are near, and of no others") {
    GuardLevels levels(nobody);
    at(levels, 100 * kMiB, 0);
    CHECK(levels.near_limits().empty());
    const auto told = at(levels, 900 * kMiB, 1).changes;
    const auto near = levels.near_limits();
    REQUIRE(near.size() == 1);
    CHECK(near[0].sentence == told.at(0).sentence);
  }

  TEST_CASE("a line stands under a cell once for each level") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, holding(100 * kMiB), {}, 0);
    CHECK(at(levels, 830 * kMiB, 1).lines.size() == 1);
    CHECK(at(levels, 500 * kMiB, 2).lines.empty());
    CHECK(at(levels, 500 * kMiB, 4.1).changes.size() == 1);
    CHECK(at(levels, 830 * kMiB, 4.2).lines.empty());
    CHECK(at(levels, 950 * kMiB, 4.3).lines.size() == 1);
  }

  TEST_CASE("a cell that has grown to the critical level is stopped, once for each approach") {
    GuardLevels levels(nobody);
    levels.begin_cell(7, holding(100 * kMiB), {}, 0);
    at(levels, 830 * kMiB, 1);
    CHECK_FALSE(levels.reason_to_stop());
    at(levels, 950 * kMiB, 2);
    REQUIRE(levels.reason_to_stop());
    CHECK(levels.reason_to_stop()->index == 7);
    CHECK(levels.reason_to_stop()->grown_bytes == 850 * kMiB);
    levels.stopped();
    CHECK_FALSE(levels.reason_to_stop());
    at(levels, 960 * kMiB, 3);
    CHECK_FALSE(levels.reason_to_stop());
    at(levels, 500 * kMiB, 4);
    at(levels, 950 * kMiB, 5);
    CHECK(levels.reason_to_stop());
  }

  TEST_CASE("a stopped cell that goes on growing is stopped again where half of the rest is gone") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, holding(100 * kMiB), {}, 0);
    at(levels, 924 * kMiB, 1);
    REQUIRE(levels.reason_to_stop());
    CHECK_FALSE(levels.reason_to_stop()->again);
    levels.stopped();
    at(levels, 970 * kMiB, 2);
    CHECK_FALSE(levels.reason_to_stop());
    at(levels, 980 * kMiB, 3);
    REQUIRE(levels.reason_to_stop());
    CHECK(levels.reason_to_stop()->again);
    levels.stopped();
    at(levels, 990 * kMiB, 4);
    CHECK_FALSE(levels.reason_to_stop());
    at(levels, 1003 * kMiB, 5);
    CHECK(levels.reason_to_stop());
  }

  TEST_CASE("a cell that has not grown is not stopped, however short memory is") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, holding(940 * kMiB), {}, 0);
    at(levels, 945 * kMiB, 1);
    CHECK_FALSE(levels.reason_to_stop());
    levels.end_cell(1);
    at(levels, 990 * kMiB, 2);
    CHECK_FALSE(levels.reason_to_stop());
  }

  TEST_CASE("where others have taken the memory the largest is named and nothing is stopped") {
    GuardLevels levels([](const LimitReading& it) {
      CHECK(it.group == "/job");
      return OtherProcess{42, "greedy", 600 * kMiB};
    });
    levels.observe({group(300 * kMiB, 100 * kMiB)}, 0);
    levels.begin_cell(1, holding(100 * kMiB), {}, 1);
    const auto told = levels.observe({group(1000 * kMiB, 150 * kMiB)}, 2);
    CHECK_FALSE(levels.reason_to_stop());
    REQUIRE(told.lines.size() == 1);
    CHECK(told.lines[0].sentence.find("850 MiB of it are not this process's; the largest other "
                                      "process is `greedy` (pid 42) with 600 MiB") !=
          std::string::npos);
  }

  TEST_CASE("a cell is stopped though others had most, where it alone filled the rest") {
    GuardLevels levels(nobody);
    levels.observe({group(600 * kMiB, 50 * kMiB)}, 0);
    levels.begin_cell(1, holding(50 * kMiB), {}, 1);
    levels.observe({group(950 * kMiB, 400 * kMiB)}, 2);
    CHECK(levels.reason_to_stop());
  }

  TEST_CASE("all processes are looked at once a second at most") {
    int searches = 0;
    GuardLevels levels([&](const LimitReading&) {
      ++searches;
      return std::nullopt;
    });
    levels.begin_cell(1, holding(50 * kMiB), {}, 0);
    for (const double now : {1.0, 1.1, 1.9}) levels.observe({group(950 * kMiB, 300 * kMiB)}, now);
    CHECK(searches == 1);
    levels.observe({group(960 * kMiB, 300 * kMiB)}, 2.0);
    CHECK(searches == 2);
  }

  TEST_CASE("children of this process are said to be its own, with what all of them hold") {
    const OtherProcess worker{42, "python", 300 * kMiB, 3, 900 * kMiB};
    CHECK(sentence_of(group(950 * kMiB, kMiB), GuardLevel::warning, 0, worker)
              .find("`python` (pid 42) with 300 MiB, one of 3 child processes of this one, which "
                    "hold 900 MiB.") != std::string::npos);
    const OtherProcess only{42, "python", 300 * kMiB, 1, 300 * kMiB};
    CHECK(sentence_of(group(950 * kMiB, kMiB), GuardLevel::warning, 0, only)
              .find("with 300 MiB, a child process of this one.") != std::string::npos);
  }

  TEST_CASE("where no other process can be seen that is said") {
    const auto text = sentence_of(group(950 * kMiB, kMiB), GuardLevel::critical, 0, std::nullopt);
    CHECK(text.find("no other process can be seen from here") != std::string::npos);
    CHECK(text.find("grown") == std::string::npos);
  }

  TEST_CASE("a device is told of and stops nothing") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, holding(0), {{"cuda:0", kMiB, kMiB, std::nullopt}}, 0);
    const auto told =
        levels.observe({{GuardLimit::device, "cuda:0", 990 * kMiB, kGiB, 990 * kMiB, {}}}, 1);
    REQUIRE(told.changes.size() == 1);
    CHECK(told.changes[0].level == GuardLevel::critical);
    CHECK(told.changes[0].grown_bytes == 989 * kMiB);
    CHECK_FALSE(levels.reason_to_stop());
  }

  TEST_CASE("address space counts as it was when the cell began") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, OwnMemory{1, 1, 700 * kMiB, 300 * kMiB}, {}, 0);
    const auto full = 950 * kMiB;
    levels.observe({{GuardLimit::address_space, "host", full, kGiB, full, {}}}, 1);
    REQUIRE(levels.reason_to_stop());
    CHECK(levels.reason_to_stop()->grown_bytes == 250 * kMiB);
    CHECK(std::string(name_of(GuardLimit::data)) == "address_space");
  }

  TEST_CASE("the growth of a long cell is told once, that of a short one never") {
    GuardLevels levels(nobody);
    levels.begin_cell(1, holding(100 * kMiB), {}, 0);
    CHECK(at(levels, 300 * kMiB, 4).lines.empty());
    const auto told = at(levels, 300 * kMiB, 6).lines;
    REQUIRE(told.size() == 1);
    CHECK(told[0].sentence.find("This cell has grown by 200 MiB in 6 s so far") == 0);
    CHECK(at(levels, 500 * kMiB, 7).lines.empty());
    levels.end_cell(1);
    levels.begin_cell(2, holding(500 * kMiB), {}, 8);
    CHECK(at(levels, 590 * kMiB, 20).lines.empty());
  }

  TEST_CASE("a limit that is lifted is near no longer") {
    GuardLevels levels(nobody);
    at(levels, 950 * kMiB, 0);
    CHECK(levels.is_near());
    const auto told = levels.observe({}, 1);
    REQUIRE(told.changes.size() == 1);
    CHECK(told.changes[0].level == GuardLevel::normal);
    CHECK(levels.states().empty());
    CHECK_FALSE(levels.is_near());
  }

  TEST_CASE("the way to the next thing to tell gets shorter with what this process has grown by") {
    GuardLevels levels(nobody);
    at(levels, 700 * kMiB, 0);
    const auto far = levels.distance_bytes(holding(700 * kMiB));
    CHECK(far == kGiB - kGiB / 5 - 700 * kMiB);
    CHECK(levels.distance_bytes(holding(750 * kMiB)) == far - 50 * kMiB);
  }
}

TEST_SUITE("guard") {
  TEST_CASE("what a sample shows is told at once, and the main thread is called for it") {
    const auto script = std::make_shared<ScriptedLimits::Script>();
    Guard guard(std::make_unique<ScriptedLimits>(script));
    std::atomic<int> told{0}, called{0};
    guard.tell_by([&](const GuardNote& note) { told += note.level == GuardLevel::critical; });
    guard.call_main_by([&] { ++called; });
    guard.set_policy(GuardPolicy::interrupt);
    while (script->reads == 0) std::this_thread::yield();
    guard.begin_cell(1, {});
    script->used = 950 * kMiB;
    guard.sampled(950 * kMiB);
    while (told == 0 || called == 0) std::this_thread::yield();
    CHECK(guard.take_lines().size() == 1);
    CHECK(guard.take_lines().empty());
    REQUIRE(guard.reason_to_stop());
    // As long as nobody was there to be stopped.
    const int before = called;
    while (called == before) std::this_thread::yield();
    guard.end_cell(1);
    CHECK_FALSE(guard.reason_to_stop());
    CHECK(script->signals_are_blocked);
  }

  TEST_CASE("under the policy warn nothing is to be stopped") {
    const auto script = std::make_shared<ScriptedLimits::Script>();
    Guard guard(std::make_unique<ScriptedLimits>(script));
    guard.set_policy(GuardPolicy::warn);
    guard.begin_cell(1, {});
    script->used = 950 * kMiB;
    guard.look();
    CHECK_FALSE(guard.reason_to_stop());
    CHECK_FALSE(guard.take_lines().empty());
  }

  TEST_CASE("a device has the limit that the cell found") {
    const auto script = std::make_shared<ScriptedLimits::Script>();
    Guard guard(std::make_unique<ScriptedLimits>(script));
    guard.set_policy(GuardPolicy::warn);
    DeviceReading device{"cuda:0", 0, 0, std::nullopt};
    guard.begin_cell(1, {device});
    script->device = 990 * kMiB;
    guard.look();
    CHECK(guard.take_lines().empty());
    guard.end_cell(1);
    device.total_bytes = kGiB;
    guard.begin_cell(2, {device});
    guard.look();
    const auto lines = guard.take_lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].reading.device == "cuda:0");
  }

  TEST_CASE("a guard that is off reads nothing") {
    const auto script = std::make_shared<ScriptedLimits::Script>();
    Guard guard(std::make_unique<ScriptedLimits>(script));
    guard.begin_cell(1, {});
    guard.sampled(kGiB);
    guard.look();
    CHECK(script->reads == 0);
    Guard blind(nullptr);
    blind.set_policy(GuardPolicy::interrupt);
    CHECK(blind.policy() == GuardPolicy::off);
  }

  TEST_CASE("a forked child neither waits for the guard nor is watched by it") {
    const auto script = std::make_shared<ScriptedLimits::Script>();
    auto guard = std::make_unique<Guard>(std::make_unique<ScriptedLimits>(script));
    guard->set_policy(GuardPolicy::interrupt);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(20);
      guard->begin_cell(1, {});
      guard->sampled(kGiB);
      guard->look();
      guard->end_cell(1);
      const bool quiet = guard->take_lines().empty() && guard->states().empty();
      guard.reset();
      ::_exit(quiet ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}
