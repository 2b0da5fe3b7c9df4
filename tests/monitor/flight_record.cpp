#include "xleak/monitor/flight_record.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "flight_layout.hpp"
#include "flight_recorder.hpp"
#include "scripted_probes.hpp"
#include "units.hpp"
#include "xleak/monitor/error.hpp"

using namespace xleak::monitor;
using namespace std::chrono_literals;

namespace {

// What a recorder writes while no cell runs.
constexpr std::int64_t kMuch = 16 * kMiB;
const FlightIdentity kIdentity{"kernel-1.json", "/work", "xleak"};

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/xleak-flight-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file() const { return path_ + "/record"; }

 private:
  std::string path_;
};

/// What the recorder asks for, in the hands of a test.
struct Machine {
  std::chrono::nanoseconds now{0};
  std::optional<LimitReading> limit;
  OomKills kills;

  FlightProbes probes() {
    return {[this] { return limit; }, [this] { return kills; }, [this] { return now; }};
  }
};

/// Runs `body` in a process that then kills itself, and reads what it left.
void in_killed_process(const std::function<void()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(20);
    body();
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

FlightRecord record_of(const std::function<void(FlightRecorder&, Machine&)>& body) {
  const Folder folder;
  in_killed_process([&] {
    Machine machine;
    FlightRecorder recorder(folder.file(), kIdentity, machine.probes());
    body(recorder, machine);
    ::raise(SIGKILL);
  });
  return read_flight_record(folder.file());
}

std::vector<char> read_all(const std::string& path) {
  std::vector<char> bytes(flight::kFileBytes);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::read(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  return bytes;
}

std::vector<char> bytes_of_a_record() {
  const Folder folder;
  in_killed_process([&] {
    Machine machine;
    FlightRecorder recorder(folder.file(), kIdentity, machine.probes());
    recorder.announce("x = 1", 1);
    recorder.begin(1, "id", kMiB);
    recorder.sample(2 * kMiB);
    ::raise(SIGKILL);
  });
  return read_all(folder.file());
}

void write_all(const std::string& path, const std::vector<char>& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  REQUIRE(file != nullptr);
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  std::fclose(file);
}

flight::File file_in(const std::vector<char>& bytes) {
  flight::File file;
  std::memcpy(&file, bytes.data(), sizeof file);
  return file;
}

FlightRecord read_back(const flight::File& file) {
  const Folder folder;
  std::vector<char> bytes(flight::kFileBytes);
  std::memcpy(bytes.data(), &file, sizeof file);
  write_all(folder.file(), bytes);
  return read_flight_record(folder.file());
}

}  // namespace

TEST_SUITE("flight record") {
  TEST_CASE("what a process wrote before SIGKILL is read after it") {
    const auto record = record_of([](FlightRecorder& recorder, Machine& machine) {
      machine.limit = LimitReading{GuardLimit::cgroup, "host", 212 * kMiB, 512 * kMiB};
      recorder.announce("x = []\nwhile True: x.append(1)", 7);
      recorder.begin(3, "abc", 100 * kMiB);
      machine.now = 40ms;
      recorder.sample(150 * kMiB);
      machine.now = 41ms;
      recorder.sample(160 * kMiB);
    });
    CHECK_FALSE(record.living);
    CHECK(record.same_boot);
    CHECK(record.identity.connection_file == "kernel-1.json");
    CHECK(record.limit_bytes == 512 * kMiB);
    CHECK(record.limit_is_group);
    REQUIRE(record.cell);
    CHECK(record.cell->index == 3);
    CHECK(record.cell->execution_count == 7);
    CHECK(record.cell->cell_id == "abc");
    CHECK(record.cell->source == "x = []\nwhile True: x.append(1)");
    CHECK(record.cell->running);
    REQUIRE(record.cell->samples.size() == 3);
    CHECK(record.cell->samples[0].resident_bytes == 100 * kMiB);
    CHECK(record.cell->samples[1].seconds == doctest::Approx(0.04));
    CHECK(record.cell->samples[2].resident_bytes == 160 * kMiB);
    CHECK(record.cell->samples[2].available_bytes == 300 * kMiB);
  }

  TEST_CASE("the size after a cell is kept, with what was left then") {
    const auto record = record_of([](FlightRecorder& recorder, Machine& machine) {
      recorder.rest(kMiB);
      recorder.begin(1, "", 2 * kMiB);
      machine.now = 1s;
      recorder.rest(3 * kMiB);
      recorder.end(1);
      recorder.answered();
      for (int second = 2; second < 10; ++second) {
        machine.now = std::chrono::seconds(second);
        machine.limit = LimitReading{GuardLimit::machine, "host", second * kMuch, 20 * kMuch};
        machine.kills.machine = second;
        recorder.rest(second * kMuch);
      }
    });
    CHECK(record.kills_before.machine == 9);
    REQUIRE(record.cell);
    CHECK_FALSE(record.cell->running);
    REQUIRE(record.cell->samples.size() == 3);
    CHECK(record.cell->samples[0].resident_bytes == 2 * kMiB);
    CHECK(record.cell->samples[2].seconds == doctest::Approx(9));
    CHECK(record.cell->samples[2].resident_bytes == 9 * kMuch);
    CHECK(record.cell->samples[2].available_bytes == 11 * kMuch);
  }

  TEST_CASE("a process that rests as it was writes nothing") {
    const Folder folder;
    Machine machine;
    machine.limit = LimitReading{GuardLimit::machine, "host", kMuch, 20 * kMuch};
    machine.kills = {5, 9};
    FlightRecorder recorder(folder.file(), kIdentity, machine.probes());
    recorder.begin(1, "", kMuch);
    recorder.end(1);
    machine.now = 2s;
    recorder.rest(kMuch);
    const auto before = read_all(folder.file());
    machine.now = 4s;
    machine.limit->used_bytes += kMiB;
    recorder.rest(kMuch + kMiB);
    CHECK(read_all(folder.file()) == before);
    machine.now = 6s;
    recorder.rest(2 * kMuch);
    CHECK(read_all(folder.file()) != before);
  }

  TEST_CASE("a cell that has ended does not run, and its samples are not the next one's") {
    const auto record = record_of([](FlightRecorder& recorder, Machine& machine) {
      recorder.begin(1, "", kMiB);
      machine.now = 1s;
      recorder.sample(9 * kMiB);
      recorder.end(1);
      recorder.sample(10 * kMiB);
      recorder.announce("second", 2);
      recorder.begin(2, "", 5 * kMiB);
      recorder.end(1);
    });
    REQUIRE(record.cell);
    CHECK(record.cell->index == 2);
    CHECK(record.cell->source == "second");
    CHECK(record.cell->running);
    REQUIRE(record.cell->samples.size() == 1);
    CHECK(record.cell->samples[0].resident_bytes == 5 * kMiB);
    const auto ended = record_of([](FlightRecorder& recorder, Machine&) {
      recorder.begin(1, "", kMiB);
      recorder.end(1);
      recorder.answered();
    });
    REQUIRE(ended.cell);
    CHECK_FALSE(ended.cell->running);
  }

  TEST_CASE("a cell whose reply was not sent runs, also where it has run another inside itself") {
    const auto unanswered = record_of([](FlightRecorder& recorder, Machine&) {
      recorder.answered();
      recorder.begin(1, "", kMiB);
      recorder.answered();
      recorder.end(1);
    });
    REQUIRE(unanswered.cell);
    CHECK(unanswered.cell->running);
    const auto nested = record_of([](FlightRecorder& recorder, Machine&) {
      recorder.begin(1, "", kMiB);
      recorder.begin(2, "", kMiB);
      recorder.end(2);
      recorder.end(1);
      recorder.answered();
    });
    REQUIRE(nested.cell);
    CHECK_FALSE(nested.cell->running);
  }

  TEST_CASE("a cell of hours is kept from its beginning to its last size") {
    const auto record = record_of([](FlightRecorder& recorder, Machine& machine) {
      recorder.begin(1, "", 1);
      for (std::int64_t tick = 1; tick <= 200'000; ++tick) {
        machine.now = tick * 50ms;
        recorder.sample(tick);
      }
    });
    const auto& samples = record.cell->samples;
    CHECK(samples.size() > flight::kHistory / 2);
    CHECK(samples.front().seconds == 0);
    CHECK(samples.back().resident_bytes == 200'000);
    double widest = 0;
    for (std::size_t at = 1; at < samples.size(); ++at) {
      REQUIRE(samples[at].seconds > samples[at - 1].seconds);
      widest = std::max(widest, samples[at].seconds - samples[at - 1].seconds);
    }
    CHECK(widest < 3 * samples.back().seconds / static_cast<double>(flight::kHistory / 2));
  }

  TEST_CASE("the source of a cell is cut, and one of another cell never shown") {
    const auto record = record_of([](FlightRecorder& recorder, Machine&) {
      recorder.announce(std::string(5000, 'a'), 1);
      recorder.begin(1, std::string(5000, 'b'), std::nullopt);
    });
    CHECK(record.cell->source == std::string(kFlightSourceBytes, 'a'));
    CHECK(record.cell->cell_id.size() == 63);
    CHECK(record.cell->samples.empty());
    const auto unannounced = record_of([](FlightRecorder& recorder, Machine&) {
      recorder.announce("first", 1);
      recorder.begin(1, "", kMiB);
      recorder.begin(2, "", kMiB);
    });
    CHECK(unannounced.cell->source.empty());
    CHECK_FALSE(unannounced.cell->execution_count);
  }

  TEST_CASE("kills are counted from the last question, not from the start") {
    const auto record = record_of([](FlightRecorder& recorder, Machine& machine) {
      machine.kills = {5, 9};
      recorder.begin(1, "", kMiB);
      machine.now = 1s;
      recorder.sample(kMiB);
      machine.kills = {6, 10};
      machine.now = 1100ms;
      recorder.sample(kMiB);
    });
    CHECK(record.kills_before.group == 5);
    CHECK(record.kills_before.machine == 9);
  }

  TEST_CASE("what is unknown is not 0") {
    const auto record = record_of([](FlightRecorder&, Machine&) {});
    CHECK_FALSE(record.cell);
    CHECK_FALSE(record.limit_bytes);
    CHECK_FALSE(record.kills_before.group);
    CHECK_FALSE(record.exit_status);
  }

  TEST_CASE("the record of a living process is living") {
    const Folder folder;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      FlightRecorder recorder(folder.file(), {});
      static_cast<void>(!::write(ready[1], "x", 1));
      ::pause();
    }
    char byte;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(read_flight_record(folder.file()).living);
    ::kill(child, SIGKILL);
    // A process that was not waited for is still in the table.
    siginfo_t ended;
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    CHECK_FALSE(read_flight_record(folder.file()).living);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK_FALSE(read_flight_record(folder.file()).living);
    ::close(ready[0]);
    ::close(ready[1]);
  }

  TEST_CASE("a process that reads its own record keeps its lock") {
    const Folder folder;
    const FlightRecorder recorder(folder.file(), {});
    CHECK(read_flight_record(folder.file()).living);
    const pid_t child = ::fork();
    if (child == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      const int fd = ::open(folder.file().c_str(), O_RDONLY | O_CLOEXEC);
      ::_exit(::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  }

  TEST_CASE("a file that is there is neither overwritten nor followed") {
    const Folder folder;
    write_all(folder.file(), {'m', 'i', 'n', 'e'});
    CHECK_THROWS_AS(FlightRecorder(folder.file(), {}), Error);
    struct stat found {};
    REQUIRE(::stat(folder.file().c_str(), &found) == 0);
    CHECK(found.st_size == 4);
  }

  TEST_CASE("the file is its owner's alone") {
    const Folder folder;
    const mode_t before = ::umask(0);
    FlightRecorder recorder(folder.file(), {});
    ::umask(before);
    struct stat found {};
    REQUIRE(::stat(folder.file().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    CHECK(found.st_size == flight::kFileBytes);
    recorder.remove();
    CHECK(::stat(folder.file().c_str(), &found) != 0);
  }

  TEST_CASE("a file that user code opened in place of the record's descriptor stays open") {
    const Folder folder;
    auto recorder = std::make_unique<FlightRecorder>(folder.file(), FlightIdentity());
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int of_record = next - 1;
    REQUIRE(::dup2(next, of_record) == of_record);
    recorder.reset();
    CHECK(::fcntl(of_record, F_GETFD) >= 0);
    ::close(of_record);
    ::close(next);
  }

  TEST_CASE("marks are read back") {
    const Folder folder;
    write_all(folder.file(), bytes_of_a_record());
    CHECK_FALSE(read_flight_record(folder.file()).told);
    mark_flight_told(folder.file());
    mark_flight_exit(folder.file(), -9);
    const auto record = read_flight_record(folder.file());
    CHECK(record.told);
    CHECK(record.exit_status == -9);
    CHECK(record.cell->source == "x = 1");
  }
}

TEST_SUITE("hostile flight record") {
  TEST_CASE("a file of another length is refused") {
    const auto whole = bytes_of_a_record();
    const std::size_t sizes[] = {0, 1, 8, 100, whole.size() - 1, whole.size() + 1};
    for (const std::size_t size : sizes) {
      const Folder folder;
      auto bytes = whole;
      bytes.resize(size);
      write_all(folder.file(), bytes);
      CHECK_THROWS_AS(read_flight_record(folder.file()), Error);
    }
  }

  TEST_CASE("another magic or version is refused") {
    for (const std::size_t at : {std::size_t{0}, offsetof(flight::File, process.version)}) {
      const Folder folder;
      auto bytes = bytes_of_a_record();
      bytes[at] ^= 0x40;
      write_all(folder.file(), bytes);
      CHECK_THROWS_AS(read_flight_record(folder.file()), Error);
    }
  }

  TEST_CASE("what is no regular file is refused without waiting") {
    const Folder folder;
    REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
    CHECK_THROWS_AS(read_flight_record(folder.file()), Error);
    CHECK_THROWS_AS(read_flight_record("/tmp"), Error);
    CHECK_THROWS_AS(read_flight_record("/nowhere/at/all"), Error);
  }

  TEST_CASE("a torn cell gives way to the one before it, a torn sample is left out") {
    auto file = file_in(bytes_of_a_record());
    auto& whole = file.cells[1];
    REQUIRE(whole.index == 1);
    file.cells[0] = whole;
    file.cells[0].before = 99;
    file.cells[0].after = 0;
    file.cells[0].index = 2;
    file.latest[0].after = file.latest[0].before + 1;
    file.latest[1].after = file.latest[1].before + 1;
    const auto record = read_back(file);
    REQUIRE(record.cell);
    CHECK(record.cell->index == 1);
    for (const auto& sample : record.cell->samples) CHECK(sample.resident_bytes <= 2 * kMiB);
  }

  TEST_CASE("texts without an end and numbers without sense are cut or left out") {
    auto file = file_in(bytes_of_a_record());
    std::memset(file.process.connection_file, 'x', sizeof file.process.connection_file);
    std::memset(file.process.boot_id, 'x', sizeof file.process.boot_id);
    std::memset(file.cells[1].source, 'x', sizeof file.cells[1].source);
    std::memset(file.cells[1].cell_id, 'x', sizeof file.cells[1].cell_id);
    file.cells[1].began = std::nan("");
    file.process.limit_bytes = INT64_MAX;
    for (auto* sample : {&file.history[0], &file.latest[0], &file.latest[1]}) {
      sample->resident_bytes = INT64_MIN;
    }
    const auto record = read_back(file);
    CHECK(record.identity.connection_file.size() == flight::kPathBytes);
    CHECK(record.cell->source.size() == kFlightSourceBytes);
    CHECK(record.cell->began == 0);
    CHECK(record.cell->samples.empty());
    CHECK_FALSE(record.limit_bytes);
  }

  TEST_CASE("no file that a record names is opened but the counters of control groups") {
    CHECK(is_group_kills_file("/sys/fs/cgroup/memory/a/memory.oom_control"));
    CHECK(is_group_kills_file("/sys/fs/cgroup/a/memory.events"));
    CHECK_FALSE(is_group_kills_file("/etc/memory.events"));
    CHECK_FALSE(is_group_kills_file("/sys/fs/cgroup/../../../etc/memory.events"));
    CHECK_FALSE(is_group_kills_file("/sys/fs/cgroup/a/cgroup.procs"));
    CHECK_FALSE(is_group_kills_file(""));
  }

  TEST_CASE("any bytes are read or refused") {
    const auto whole = bytes_of_a_record();
    std::mt19937 random(7);
    int read = 0;
    for (int round = 0; round < 400; ++round) {
      const Folder folder;
      auto bytes = whole;
      for (int change = 0; change < 200; ++change) {
        // Behind the version: what comes before it is refused.
        const auto at = 12 + random() % (sizeof(flight::File) - 12);
        bytes[at] = static_cast<char>(random());
      }
      write_all(folder.file(), bytes);
      const auto record = read_flight_record(folder.file());
      if (record.cell) CHECK(record.cell->index > 0);
      ++read;
    }
    CHECK(read == 400);
  }
}

TEST_SUITE("evidence of a flight record") {
  TEST_CASE("reads the count of kills of every counter") {
    CHECK(parse_oom_kills("low 0\noom 3\noom_kill 2\noom_group_kill 9\n") == 2);
    CHECK(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n") == 4);
    CHECK(parse_oom_kills("pgfault 1\noom_kill 0\n") == 0);
  }

  TEST_CASE("a missing count is no count") {
    CHECK_FALSE(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\n"));
    CHECK_FALSE(parse_oom_kills("my_oom_kill 4\n"));
    CHECK_FALSE(parse_oom_kills("oom_kill -4\n"));
    CHECK_FALSE(parse_oom_kills(""));
  }

  TEST_CASE("reads the start of a process whatever its name") {
    const std::string numbers = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n";
    CHECK(parse_start_ticks("12 (python) S" + numbers) == 4711);
    CHECK(parse_start_ticks("12 (a) S 1 (b) R" + numbers) == 4711);
    CHECK_FALSE(parse_start_ticks("12 (python) Z" + numbers));
    CHECK_FALSE(parse_start_ticks("12 (python) S 1 2"));
    CHECK_FALSE(parse_start_ticks(""));
    CHECK(start_ticks(::getpid()));
  }
}

TEST_SUITE("session with a flight record") {
  TEST_CASE("a session keeps its last cell in the file, and drops the file") {
    const Folder folder;
    const auto script = std::make_shared<Script>();
    in_killed_process([&] {
      ScriptedSession scripted(script);
      Session& session = scripted.session;
      session.keep_flight_record(folder.file(), {});
      session.announce_cell("deadly()", 4);
      session.begin_cell({"id", std::nullopt}, {});
      session.asked_to_end();
      ::raise(SIGKILL);
    });
    const auto record = read_flight_record(folder.file());
    CHECK(record.asked_to_end);
    REQUIRE(record.cell);
    CHECK(record.cell->source == "deadly()");
    CHECK(record.cell->samples.at(0).resident_bytes == script->resident_bytes);
    ::unlink(folder.file().c_str());
    ScriptedSession scripted;
    scripted.session.keep_flight_record(folder.file(), {});
    scripted.session.drop_flight_record();
    CHECK(::access(folder.file().c_str(), F_OK) != 0);
  }

  TEST_CASE("a forked child never writes into it, nor deletes it") {
    const Folder folder;
    in_killed_process([&] {
      ScriptedSession scripted;
      scripted.session.keep_flight_record(folder.file(), {});
      scripted.session.announce_cell("parent()", 1);
      scripted.session.begin_cell({}, {});
      const pid_t child = ::fork();
      if (child == 0) {
        scripted.session.announce_cell("child()", 2);
        scripted.session.begin_cell({}, {});
        scripted.session.end_cell(1, CellStatus::ok, std::nullopt, {});
        scripted.session.asked_to_end();
        scripted.session.drop_flight_record();
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
      ::raise(SIGKILL);
    });
    const auto record = read_flight_record(folder.file());
    CHECK_FALSE(record.asked_to_end);
    REQUIRE(record.cell);
    CHECK(record.cell->source == "parent()");
    CHECK(record.cell->running);
  }
}
