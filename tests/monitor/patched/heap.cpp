#include <malloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "installed.hpp"

using namespace xleak::monitor;

namespace {

void* by_posix_memalign(std::size_t bytes) {
  void* block = nullptr;
  return ::posix_memalign(&block, 4096, bytes) == 0 ? block : nullptr;
}
void* by_calloc(std::size_t bytes) { return std::calloc(bytes / 8, 8); }
void* by_realloc(std::size_t bytes) { return std::realloc(nullptr, bytes); }
void* by_reallocarray(std::size_t bytes) { return ::reallocarray(nullptr, bytes / 8, 8); }
void* by_aligned_alloc(std::size_t bytes) { return std::aligned_alloc(64, bytes); }
void* by_memalign(std::size_t bytes) { return ::memalign(2 * kMiB, bytes); }

struct Way {
  const char* name;
  void* (*allocate)(std::size_t);
};

const Way kWays[] = {
    {"malloc", std::malloc},
    {"calloc", by_calloc},
    {"realloc", by_realloc},
    {"reallocarray", by_reallocarray},
    {"posix_memalign", by_posix_memalign},
    {"aligned_alloc", by_aligned_alloc},
    {"memalign", by_memalign},
    {"valloc", ::valloc},
    {"pvalloc", ::pvalloc},
};

}  // namespace

TEST_SUITE("heap") {
  TEST_CASE("each allocation function is seen, and its block forgotten when it is freed") {
    const Installed installed;
    for (const Way& way : kWays) {
      for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{100} << 10, 3 * kMiB}) {
        CAPTURE(way.name);
        CAPTURE(bytes);
        void* const block = kept(way.allocate(bytes));
        const auto found = known(block);
        REQUIRE(found);
        CHECK(found->bytes == static_cast<std::int64_t>(bytes));
        CHECK(found->kind == BlockKind::heap);
        CHECK(found->cell == 1);
        std::free(block);
        CHECK_FALSE(known(block));
      }
    }
  }

  TEST_CASE("a smaller block is none of the ledger's") {
    const Installed installed;
    for (const Way& way : kWays) {
      CAPTURE(way.name);
      void* const block = kept(way.allocate((64 << 10) - 64));
      CHECK_FALSE(known(block));
      std::free(block);
    }
  }

  TEST_CASE("what libc and the C++ library allocate for the program is seen") {
    const Installed installed;
    const std::string text(2 * kMiB, 'x');
    CHECK(known(text.data()));
    char* const copy = ::strdup(text.c_str());
    CHECK(known(copy));
    std::free(copy);
    CHECK_FALSE(known(copy));
    const auto alignment = std::align_val_t{4096};
    void* const aligned = kept(::operator new(kMiB, alignment));
    CHECK(known(aligned));
    ::operator delete(aligned, alignment);
    CHECK_FALSE(known(aligned));
  }

  TEST_CASE("an allocation that fails leaves nothing, and its errno") {
    const Installed installed;
    const auto before = living_blocks().size();
    const volatile std::size_t too_much = SIZE_MAX / 2;
    errno = 0;
    CHECK(kept(std::malloc(too_much)) == nullptr);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(kept(std::calloc(too_much, 16)) == nullptr);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(kept(::reallocarray(nullptr, too_much, 16)) == nullptr);
    CHECK(errno == ENOMEM);
    void* block = nullptr;
    CHECK(::posix_memalign(&block, 4096, too_much) == ENOMEM);
    CHECK(living_blocks().size() == before);
  }

  TEST_CASE("a block that is made and freed leaves errno as it was") {
    const Installed installed;
    errno = 4711;
    std::free(kept(std::malloc(kMiB)));
    std::free(kept(by_posix_memalign(3 * kMiB)));
    CHECK(errno == 4711);
  }

  TEST_CASE("realloc that grows is a new birth, one that shrinks keeps the old one") {
    const Installed installed;
    void* block = kept(std::malloc(kMiB));
    births_belong_to(2);
    block = kept(std::realloc(block, kMiB / 2));
    REQUIRE(known(block));
    CHECK(known(block)->cell == 1);
    CHECK(known(block)->bytes == static_cast<std::int64_t>(kMiB / 2));
    void* const moved = kept(std::realloc(block, 64 * kMiB));
    REQUIRE(known(moved));
    CHECK(known(moved)->cell == 2);
    CHECK(known(moved)->bytes == static_cast<std::int64_t>(64 * kMiB));
    if (moved != block) CHECK_FALSE(known(block));
    std::free(moved);
  }

  TEST_CASE("realloc leads into the ledger and out of it") {
    const Installed installed;
    void* block = kept(std::malloc(1000));
    CHECK_FALSE(known(block));
    block = kept(std::realloc(block, kMiB));
    CHECK(known(block));
    block = kept(std::realloc(block, 1000));
    CHECK_FALSE(known(block));
    block = kept(::reallocarray(block, kMiB / 8, 8));
    CHECK(known(block));
    CHECK(kept(std::realloc(block, 0)) == nullptr);
    CHECK_FALSE(known(block));
  }

  TEST_CASE("a realloc that fails leaves the block known as it was") {
    const Installed installed;
    void* const block = kept(std::malloc(kMiB));
    const auto before = *known(block);
    births_belong_to(2);
    const volatile std::size_t too_much = SIZE_MAX / 2;
    CHECK(kept(std::realloc(block, too_much)) == nullptr);
    const auto after = known(block);
    REQUIRE(after);
    CHECK(after->cell == 1);
    CHECK(after->order == before.order);
    CHECK(after->bytes == before.bytes);
    std::free(block);
  }

  TEST_CASE("a block from before is freed without a word, and one of now may be freed afterwards") {
    void* const before = kept(std::malloc(kMiB));
    void* after = nullptr;
    {
      const Installed installed;
      const auto alive = block_sums().alive_bytes;
      std::free(before);
      CHECK(block_sums().alive_bytes == alive);
      after = kept(std::malloc(kMiB));
    }
    std::free(after);
    const Installed again;
    CHECK_FALSE(known(after));
  }
}
