#include "torch/tensor_account.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace xleak::libtorch;

namespace {

constexpr int kBlocks = 20'000;

void churn(TensorAccount& account, std::uintptr_t first) {
  for (int i = 0; i < kBlocks; ++i) account.add(first + 64 * i, 10);
  for (int i = 0; i < kBlocks; ++i) account.remove(first + 64 * i);
}

}  // namespace

TEST_SUITE("tensor_account") {
  TEST_CASE("a cell keeps what lives and peaks at what lived at once") {
    TensorAccount account;
    account.add(64, 5);
    account.begin_cell(1);
    account.add(128, 100);
    account.remove(128);
    account.add(192, 7);
    const auto use = account.end_cell(1);
    REQUIRE(use);
    CHECK(use->kept_bytes == 7);
    CHECK(use->peak_bytes == 105);
    CHECK(use->allocated_bytes == 107);
  }

  TEST_CASE("scopes that overlap each have their own peak, and the cell keeps its own") {
    TensorAccount account;
    account.begin_cell(1);
    account.add(64, 100);
    const int outer = account.begin_scope();
    account.add(128, 10);
    const int inner = account.begin_scope();
    account.remove(64);
    account.end_scope(outer);
    account.add(192, 5);
    REQUIRE(account.scope_use(inner));
    CHECK(account.scope_use(inner)->peak_bytes == 110);
    CHECK(account.scope_use(inner)->kept_bytes == -95);
    CHECK_FALSE(account.scope_use(outer));
    CHECK(account.find(192)->cell == 1);
    CHECK(account.end_cell(1)->peak_bytes == 110);
  }

  TEST_CASE("a scope knows what was freed of before it, and of its own nothing") {
    TensorAccount account;
    account.add(64, 100);
    const int outer = account.begin_scope();
    account.add(128, 10);
    const int inner = account.begin_scope();
    account.add(192, 1);
    account.remove(64);
    account.remove(128);
    account.remove(192);
    CHECK(account.older_freed_bytes(outer) == 100);
    CHECK(account.older_freed_bytes(inner) == 110);
    account.end_scope(outer);
    CHECK(account.older_freed_bytes(outer) == 0);
  }

  TEST_CASE("a scope that ended costs the blocks after it nothing and has no numbers") {
    TensorAccount account;
    const int scope = account.begin_scope();
    account.end_scope(scope);
    account.add(64, 1);
    CHECK_FALSE(account.scope_use(scope));
    CHECK(account.begin_scope() != scope);
  }

  TEST_CASE("a block knows the cell it was made in, also within another") {
    TensorAccount account;
    account.begin_cell(1);
    account.begin_cell(2);
    account.add(64, 1);
    account.end_cell(2);
    account.add(128, 1);
    account.end_cell(1);
    account.add(192, 1);
    CHECK(account.find(64)->cell == 2);
    CHECK(account.find(128)->cell == 1);
    CHECK(account.find(192)->cell == 0);
  }

  TEST_CASE("an outer cell peaks as high as one within it") {
    TensorAccount account;
    account.begin_cell(1);
    account.begin_cell(2);
    account.add(64, 50);
    account.remove(64);
    account.end_cell(2);
    CHECK(account.end_cell(1)->peak_bytes == 50);
  }

  TEST_CASE("a cell ends those within it that never ended") {
    TensorAccount account;
    account.begin_cell(1);
    account.begin_cell(2);
    CHECK(account.end_cell(1));
    CHECK_FALSE(account.end_cell(2));
  }

  TEST_CASE("what was never counted is not taken off") {
    TensorAccount account;
    account.remove(64);
    CHECK(account.live_bytes() == 0);
  }

  TEST_CASE("nothing is lost where threads count at once") {
    TensorAccount account;
    std::thread other([&account] { churn(account, 64); });
    churn(account, 1 << 30);
    other.join();
    CHECK(account.live_bytes() == 0);
    CHECK(account.at_least(0).empty());
  }

  TEST_CASE("a child forked while another thread counts can count") {
    TensorAccount& account = TensorAccount::instance();
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (!stop) churn(account, 64);
    });
    int failures = 0;
    for (int i = 0; i < 50; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        account.add(1 << 30, 1);
        ::_exit(0);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      failures += status == 0 ? 0 : 1;
    }
    stop = true;
    other.join();
    CHECK(failures == 0);
  }
}
