#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "installed.hpp"

using namespace xleak::monitor;

namespace {

void* map(std::size_t bytes, int flags = MAP_PRIVATE | MAP_ANONYMOUS) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  // One page at a time, whatever the machine's setting is.
  ::madvise(pages, bytes, MADV_NOHUGEPAGE);
  return pages;
}

char* at(void* begin, std::size_t bytes) { return static_cast<char*>(begin) + bytes; }

}  // namespace

// The ledger takes the program that has this function for Python.
extern "C" __attribute__((visibility("default"))) void* PyObject_Malloc(std::size_t) {
  return nullptr;
}

TEST_SUITE("maps") {
  TEST_CASE("a map counts by what of it is in memory, and its length is known apart") {
    const Installed installed;
    void* const pages = map(64 * kMiB);
    std::memset(pages, 1, 3 * kMiB);
    const auto found = known(pages);
    REQUIRE(found);
    CHECK(found->kind == BlockKind::anonymous_map);
    CHECK(found->bytes == static_cast<std::int64_t>(3 * kMiB));
    CHECK(found->reserved_bytes == static_cast<std::int64_t>(64 * kMiB));
    ::munmap(pages, 64 * kMiB);
    CHECK_FALSE(known(pages));
  }

  TEST_CASE("a map of a file is another kind than one without") {
    const Installed installed;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    REQUIRE(file);
    REQUIRE(::ftruncate(::fileno(file.get()), kMiB) == 0);
    void* const pages = ::mmap(nullptr, kMiB, PROT_READ, MAP_SHARED, ::fileno(file.get()), 0);
    REQUIRE(known(pages));
    CHECK(known(pages)->kind == BlockKind::file_map);
    ::munmap(pages, kMiB);
  }

  TEST_CASE("an arena of Python's is one, and a map of another form by Python is none") {
    const Installed installed;
    void* const arena = map(kMiB);
    REQUIRE(known(arena));
    CHECK(known(arena)->kind == BlockKind::python_arena);
    CHECK(known(arena)->cell == 0);
    ::munmap(arena, kMiB);
    void* const shared = map(kMiB, MAP_SHARED | MAP_ANONYMOUS);
    CHECK(known(shared)->kind == BlockKind::anonymous_map);
    CHECK(known(shared)->cell == 1);
    ::munmap(shared, kMiB);
  }

  TEST_CASE("what is unmapped of a map is cut from it, at both ends and in the middle") {
    const Installed installed;
    void* const pages = map(16 * kMiB);
    ::munmap(pages, 2 * kMiB);
    ::munmap(at(pages, 14 * kMiB), 2 * kMiB);
    ::munmap(at(pages, 6 * kMiB), 4096);
    CHECK_FALSE(known(pages));
    const auto first = known(at(pages, 2 * kMiB));
    const auto second = known(at(pages, 6 * kMiB + 4096));
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->reserved_bytes == static_cast<std::int64_t>(4 * kMiB));
    CHECK(second->reserved_bytes == static_cast<std::int64_t>(8 * kMiB - 4096));
    ::munmap(pages, 16 * kMiB);
    CHECK_FALSE(known(at(pages, 2 * kMiB)));
    CHECK_FALSE(known(at(pages, 6 * kMiB + 4096)));
  }

  TEST_CASE("a map at a fixed place is a part of the one that is there") {
    const Installed installed;
    void* const pages = map(16 * kMiB);
    void* const part = ::mmap(at(pages, 4 * kMiB), kMiB, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK_FALSE(known(part));
    CHECK(known(pages)->reserved_bytes == static_cast<std::int64_t>(16 * kMiB));
    ::munmap(pages, 16 * kMiB);
  }

  TEST_CASE("mremap moves: growth is a new birth, and shrinking keeps the old one") {
    const Installed installed;
    void* pages = map(4 * kMiB);
    births_belong_to(2);
    void* const smaller = ::mremap(pages, 4 * kMiB, 2 * kMiB, 0);
    CHECK(smaller == pages);
    CHECK(known(pages)->cell == 1);
    CHECK(known(pages)->reserved_bytes == static_cast<std::int64_t>(2 * kMiB));
    // In its way, so that it has to move.
    void* const wall = ::mmap(at(pages, 2 * kMiB), 4096, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    void* const larger = ::mremap(pages, 2 * kMiB, 64 * kMiB, MREMAP_MAYMOVE);
    REQUIRE(larger != MAP_FAILED);
    REQUIRE(larger != pages);
    CHECK_FALSE(known(pages));
    REQUIRE(known(larger));
    CHECK(known(larger)->cell == 2);
    ::munmap(larger, 64 * kMiB);
    if (wall != MAP_FAILED) ::munmap(wall, 4096);
  }

  TEST_CASE("a mremap that fails leaves the map known as it was") {
    const Installed installed;
    void* const pages = map(4 * kMiB);
    births_belong_to(2);
    CHECK(::mremap(pages, 4 * kMiB, std::size_t{1} << 62, MREMAP_MAYMOVE) == MAP_FAILED);
    CHECK(::mremap(pages, 2 * kMiB, std::size_t{1} << 62, MREMAP_MAYMOVE) == MAP_FAILED);
    REQUIRE(known(pages));
    CHECK(known(pages)->cell == 1);
    CHECK(known(pages)->reserved_bytes == static_cast<std::int64_t>(4 * kMiB));
    ::munmap(pages, 4 * kMiB);
    CHECK_FALSE(known(pages));
  }

  TEST_CASE("a part that mremap takes out leaves the rest") {
    const Installed installed;
    void* const pages = map(8 * kMiB);
    void* const room = map(16 * kMiB);
    ::munmap(room, 16 * kMiB);
    void* const moved =
        ::mremap(at(pages, 2 * kMiB), 2 * kMiB, 3 * kMiB, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    REQUIRE(moved == room);
    CHECK(known(pages)->reserved_bytes == static_cast<std::int64_t>(2 * kMiB));
    CHECK(known(at(pages, 4 * kMiB))->reserved_bytes == static_cast<std::int64_t>(4 * kMiB));
    CHECK(known(moved)->reserved_bytes == static_cast<std::int64_t>(3 * kMiB));
    ::munmap(pages, 8 * kMiB);
    ::munmap(moved, 3 * kMiB);
  }
}
