#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "installed.hpp"
#include "retention/allocator_hooks.hpp"
#include "retention/import_tables.hpp"
#include "retention/replaced_imports.hpp"

using namespace xleak::monitor;

namespace {

/// Loaded by this program, and unloaded at the end.
class Library {
 public:
  explicit Library(const char* path, int mode = RTLD_NOW) : handle_(::dlopen(path, mode)) {
    INFO(::dlerror());
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { ::dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <class Function>
  Function* get(const char* name) const {
    void* const found = ::dlsym(handle_, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;
};

/// As a profiler leaves them that had its own there.
void give_libc_its_slots_back() {
  const auto visit = [](dl_phdr_info* object, std::size_t, void*) -> int {
    const ImportTables tables(*object);
    tables.each([](const ImportSlot& slot) {
      const Replacement* known = replacement_of(slot.name);
      const auto held = reinterpret_cast<const void*>(*slot.address);
      if (known != nullptr && held == known->replacement) write_slot(slot, known->original);
    });
    return 0;
  };
  ::dl_iterate_phdr(visit, nullptr);
}

using Allocate = void*(std::size_t);
using Release = void(void*);

}  // namespace

TEST_SUITE("libraries") {
  TEST_CASE("a library that is loaded later is seen, whether it is bound at once or call by call") {
    const Installed installed;
    for (const int mode : {RTLD_NOW, RTLD_LAZY}) {
      const Library later(XLEAK_LATER_LIBRARY, mode);
      const auto allocate = later.get<Allocate>("later_allocate");
      const auto release = later.get<Release>("later_release");
      void* const block = allocate(kMiB);
      REQUIRE(known(block));
      release(block);
      CHECK_FALSE(known(block));
      void* const pages = later.get<Allocate>("later_map")(kMiB);
      CHECK(known(pages));
    }
  }

  TEST_CASE("200 libraries that come and go at the same addresses are seen each time") {
    const Installed installed;
    for (int round = 0; round < 200; ++round) {
      const Library later(XLEAK_LATER_LIBRARY, round % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
      void* const block = later.get<Allocate>("later_allocate")(kMiB);
      REQUIRE(known(block));
      later.get<Release>("later_release")(block);
      REQUIRE_FALSE(known(block));
    }
  }

  TEST_CASE("threads that load and unload libraries while others allocate get along") {
    const Installed installed;
    std::atomic<bool> all_seen{true};
    std::thread others[4];
    for (std::thread& other : others) {
      other = std::thread([&all_seen] {
        for (int round = 0; round < 100; ++round) {
          void* const library = ::dlopen(XLEAK_LATER_LIBRARY, RTLD_NOW);
          const auto allocate = reinterpret_cast<Allocate*>(::dlsym(library, "later_allocate"));
          std::free(kept(allocate(kMiB)));
          ::dlclose(library);
          if (library == nullptr) all_seen = false;
        }
      });
    }
    for (std::thread& other : others) other.join();
    CHECK(all_seen);
    CHECK(block_sums().alive_bytes >= 0);
  }

  TEST_CASE("a library that opens another one by its bare name still finds it") {
    const Installed installed;
    const Library opener(XLEAK_OPENER_LIBRARY);
    void* const inner = opener.get<void*(const char*)>("open_by_bare_name")("libxleak_inner.so");
    INFO(::dlerror());
    REQUIRE(inner != nullptr);
    ::dlclose(inner);
  }

  TEST_CASE("who asks libc for a function by its name gets the one that is seen") {
    const Installed installed;
    const Library libc("libc.so.6");
    void* const block = libc.get<Allocate>("malloc")(kMiB);
    CHECK(known(block));
    libc.get<Release>("free")(block);
    CHECK_FALSE(known(block));
  }

  TEST_CASE("a function that somebody took meanwhile goes on working") {
    Allocate* allocate = nullptr;
    {
      const Installed installed;
      allocate = Library("libc.so.6").get<Allocate>("malloc");
    }
    void* const block = kept(allocate(kMiB));
    REQUIRE(block != nullptr);
    std::free(block);
  }

  TEST_CASE("a block that is freed by a way that is not seen is dropped, never listed") {
    const auto unseen_release = Library("libc.so.6").get<Release>("free");
    const Installed installed;
    // Two blocks with pages of their own, and one of the heap with one behind it that stays.
    void* const mapped = kept(std::malloc(40 * kMiB));
    void* const inner = kept(std::malloc(100 << 10));
    void* const behind = kept(std::malloc(100 << 10));
    const auto alive = block_sums().alive_bytes;
    unseen_release(mapped);
    unseen_release(inner);
    CHECK(block_sums().alive_bytes == alive);
    CHECK_FALSE(known(mapped));
    CHECK_FALSE(known(inner));
    CHECK(known(behind));
    CHECK(block_sums().alive_bytes == alive - static_cast<std::int64_t>(40 * kMiB + (100 << 10)));
    std::free(behind);
  }

  TEST_CASE("a block at the place of one that went unseen takes its place in the sums") {
    const auto unseen_release = Library("libc.so.6").get<Release>("free");
    const Installed installed;
    const auto before = block_sums().alive_bytes;
    for (int round = 0; round < 100; ++round) unseen_release(kept(std::malloc(100 << 10)));
    void* const last = kept(std::malloc(100 << 10));
    CHECK(known(last));
    (void)living_blocks();
    CHECK(block_sums().alive_bytes == before + (100 << 10));
    std::free(last);
  }

  TEST_CASE("slots that another tool gave back as libc's are set again before the next list") {
    const Installed installed;
    // As memray leaves them when it ends.
    CHECK(imports_were_taken_back() == false);
    give_libc_its_slots_back();
    CHECK(imports_were_taken_back());
    void* const unseen = kept(std::malloc(kMiB));
    CHECK_FALSE(known(unseen));
    CHECK_FALSE(imports_were_taken_back());
    void* const seen = kept(std::malloc(kMiB));
    CHECK(known(seen));
    std::free(seen);
    std::free(unseen);
  }
}
