#include "retention/sites.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace xleak::monitor;

TEST_SUITE("sites") {
  TEST_CASE("the same place always has the same index, another has another") {
    const auto sites = std::make_unique<SiteTable>();
    const SiteIndex first = sites->intern({"/home/a/train.py", "step", 12});
    CHECK(first != 0);
    CHECK(sites->intern({std::string("/home/a/train.py").c_str(), "step", 12}) == first);
    CHECK(sites->intern({"/home/a/train.py", "step", 13}) != first);
    CHECK(sites->intern({"/home/a/train.py", "loss", 12}) != first);
    CHECK(sites->intern({"/home/b/train.py", "step", 12}) != first);
  }

  TEST_CASE("a place is kept by its text, not by where the text lay") {
    const auto sites = std::make_unique<SiteTable>();
    std::string file = "/tmp/ipykernel_7/1234.py";
    const SiteIndex index = sites->intern({file.c_str(), "<module>", 3});
    file.assign(file.size(), 'x');
    const auto site = sites->at(index);
    REQUIRE(site);
    CHECK(site->file == "/tmp/ipykernel_7/1234.py");
    CHECK(site->function == "<module>");
    CHECK(site->line == 3);
  }

  TEST_CASE("an index that was never given out is no place") {
    const auto sites = std::make_unique<SiteTable>();
    CHECK_FALSE(sites->at(0));
    CHECK_FALSE(sites->at(1));
    CHECK_FALSE(sites->at(SiteTable::kCapacity + 1));
  }

  TEST_CASE("a text that is too long keeps its end, and no part of a character") {
    const auto sites = std::make_unique<SiteTable>();
    std::string file;
    while (file.size() < 4 * SiteTable::kFileBytes) file += "/äöü";
    file += "/model.py";
    for (const char* more : {"", "a", "ab"}) {
      const auto site = sites->at(sites->intern({(file + more).c_str(), "f", 1}));
      REQUIRE(site);
      CHECK(site->file.size() < SiteTable::kFileBytes);
      CHECK(site->file.size() + 2 >= SiteTable::kFileBytes - 1);
      REQUIRE(site->file.rfind("…", 0) == 0);
      const std::string rest = site->file.substr(std::string("…").size());
      CHECK((static_cast<unsigned char>(rest[0]) & 0xC0u) != 0x80u);
      CHECK((file + more).substr(file.size() + std::string(more).size() - rest.size()) == rest);
    }
  }

  TEST_CASE("a text that just fits is whole") {
    const auto sites = std::make_unique<SiteTable>();
    const std::string file(SiteTable::kFileBytes - 1, 'f');
    const std::string function(SiteTable::kFunctionBytes - 1, 'g');
    const auto site = sites->at(sites->intern({file.c_str(), function.c_str(), 1}));
    REQUIRE(site);
    CHECK(site->file == file);
    CHECK(site->function == function);
  }

  TEST_CASE("a full table says 0 for a new place and still knows the old ones") {
    const auto sites = std::make_unique<SiteTable>();
    for (std::size_t line = 1; line <= SiteTable::kCapacity; ++line) {
      const SiteText text{"/home/a/long.py", "f", static_cast<int>(line)};
      if (sites->intern(text) != line) FAIL("index of line " << line);
    }
    CHECK(sites->intern({"/home/a/long.py", "f", 0}) == 0);
    CHECK(sites->intern({"/home/a/long.py", "f", 65535}) == 65535);
    CHECK(sites->at(SiteTable::kCapacity)->line == 65535);
  }

  TEST_CASE("threads that meet get the same index for the same place, or none") {
    const auto sites = std::make_unique<SiteTable>();
    constexpr int kLines = 500;
    std::vector<std::vector<SiteIndex>> had(8, std::vector<SiteIndex>(kLines));
    std::vector<std::thread> threads;
    for (auto& own : had) {
      threads.emplace_back([&] {
        for (int line = 0; line < kLines; ++line) own[line] = sites->intern({"f.py", "f", line});
      });
    }
    for (auto& thread : threads) thread.join();
    for (int line = 0; line < kLines; ++line) {
      const SiteIndex index = sites->intern({"f.py", "f", line});
      REQUIRE(sites->at(index));
      CHECK(sites->at(index)->line == line);
      for (const auto& own : had) CHECK((own[line] == 0 || own[line] == index));
    }
  }

  TEST_CASE("a child that was forked while a thread was adding adds too") {
    const auto sites = std::make_unique<SiteTable>();
    std::atomic<bool> ended{false};
    std::thread adding([&] {
      for (int line = 0; !ended; ++line) sites->intern({"parent.py", "f", line % 30000});
    });
    int children_that_failed = 0;
    for (int child = 0; child < 50; ++child) {
      const pid_t process = ::fork();
      if (process == 0) {
        const SiteIndex index = sites->intern({"child.py", "f", child});
        ::_exit(index != 0 && sites->intern({"child.py", "f", child}) == index ? 0 : 1);
      }
      int status = 0;
      REQUIRE(::waitpid(process, &status, 0) == process);
      children_that_failed += status != 0;
    }
    ended = true;
    adding.join();
    CHECK(children_that_failed == 0);
  }

  TEST_CASE("a thread is where the reader says, and nowhere without one") {
    CHECK(site_of_this_thread() == 0);
    read_sites_by([]() noexcept { return SiteIndex{41}; });
    CHECK(site_of_this_thread() == 41);
    read_sites_by(nullptr);
    CHECK(site_of_this_thread() == 0);
  }
}
