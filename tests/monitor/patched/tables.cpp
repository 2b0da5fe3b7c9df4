#include <link.h>

#include <map>
#include <string>

#include "installed.hpp"
#include "retention/allocator_hooks.hpp"
#include "retention/competing_allocators.hpp"
#include "retention/import_tables.hpp"

using namespace xleak::monitor;

namespace {

struct Held {
  std::string name;
  std::uintptr_t value;
};
using Slots = std::map<std::uintptr_t, Held>;

int collect(dl_phdr_info* object, std::size_t, void* data) {
  const ImportTables tables(*object);
  tables.each([&](const ImportSlot& slot) {
    if (replacement_of(slot.name) == nullptr) return;
    (*static_cast<Slots*>(data))[reinterpret_cast<std::uintptr_t>(slot.address)] = {slot.name,
                                                                                    *slot.address};
  });
  return 0;
}

Slots all_slots() {
  Slots slots;
  ::dl_iterate_phdr(collect, &slots);
  return slots;
}

bool holds(const Held& held, const void* function) {
  return held.value == reinterpret_cast<std::uintptr_t>(function);
}

}  // namespace

TEST_SUITE("tables") {
  TEST_CASE("while it is installed the functions of libc are in no slot, and there are many") {
    const Installed installed;
    int set = 0;
    for (const auto& [address, held] : all_slots()) {
      const Replacement& known = *replacement_of(held.name.c_str());
      CHECK_FALSE(holds(held, known.original));
      if (holds(held, known.replacement)) ++set;
    }
    CHECK(set >= 10);
    CHECK(ledger_state().slots >= set);
  }

  TEST_CASE("uninstalled, every slot holds what it held, or libc's function where it was unbound") {
    { const Installed once; }
    const Slots before = all_slots();
    { const Installed again; }
    for (const auto& [address, held] : all_slots()) {
      CAPTURE(held.name);
      const bool as_before = held.value == before.at(address).value;
      CHECK((as_before || holds(held, replacement_of(held.name.c_str())->original)));
      CHECK_FALSE(holds(held, replacement_of(held.name.c_str())->replacement));
    }
  }

  TEST_CASE("any number of installations are one") {
    const Installed installed;
    const int slots = ledger_state().slots;
    CHECK(install_ledger().slots == slots);
    CHECK(install_ledger().installed);
  }

  TEST_CASE("a profiler that has its functions in the tables is left alone, and named") {
    ImportWalk walk;
    walk.set = 25;
    walk.foreign = 90;
    walk.first_foreign = reinterpret_cast<const void*>(&install_ledger);
    const auto reason = competing_profiler(walk);
    REQUIRE(reason);
    CHECK(reason->find("90 of 115") != std::string::npos);
    walk.set = 400;
    walk.foreign = 4;
    CHECK_FALSE(competing_profiler(walk));
  }
}
