#include "retention/replaced_imports.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>

#include "retention/allocator_hooks.hpp"
#include "retention/import_tables.hpp"
#include "retention/thread_slots.hpp"

namespace xleak::monitor {
namespace {

std::atomic<bool> walking{false};

bool try_begin_walk() noexcept {
  if (this_thread.walks || walking.exchange(true, std::memory_order_acquire)) return false;
  this_thread.walks = true;
  return true;
}

void end_walk() noexcept {
  this_thread.walks = false;
  walking.store(false, std::memory_order_release);
}

class Walk {
 public:
  Walk() noexcept {
    while (!try_begin_walk()) ::sched_yield();
  }
  ~Walk() { end_walk(); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
};

/// The libraries that are loaded, and those of them that a walk has been through. Used within a
/// walk alone.
class SeenLibraries {
 public:
  /// A library is there, but may still be in the middle of being loaded.
  void add(const dl_phdr_info& object, const void* dynamic) noexcept {
    if (is_outdated(object)) forget();
    unloaded_ = object.dlpi_subs;
    if (find(object, dynamic) != nullptr || count_ == libraries_.size()) return;
    libraries_[count_++] = {object.dlpi_addr, dynamic, false};
  }
  /// Whether a library was unloaded since: another one may have its address.
  bool is_outdated(const dl_phdr_info& object) const noexcept {
    return object.dlpi_subs != unloaded_;
  }
  /// Whether it was listed and not begun before; from then on it is begun.
  bool begin(const dl_phdr_info& object, const void* dynamic) noexcept {
    Library* library = find(object, dynamic);
    if (library == nullptr || library->begun) return false;
    library->begun = true;
    return true;
  }
  void forget() noexcept { count_ = 0; }

 private:
  struct Library {
    std::uintptr_t base;
    const void* dynamic;
    bool begun;
  };

  Library* find(const dl_phdr_info& object, const void* dynamic) noexcept {
    for (std::size_t at = 0; at < count_; ++at) {
      Library& library = libraries_[at];
      if (library.base == object.dlpi_addr && library.dynamic == dynamic) return &library;
    }
    return nullptr;
  }

  std::array<Library, 4096> libraries_{};
  std::size_t count_ = 0;
  unsigned long long unloaded_ = 0;  ///< How often the loader had unloaded one.
};
SeenLibraries seen;
/// How often the loader had loaded a library when the last walk began.
std::atomic<unsigned long long> seen_loads{0};

unsigned long long loads() noexcept {
  unsigned long long loads = 0;
  const auto first = [](dl_phdr_info* object, std::size_t, void* found) noexcept -> int {
    *static_cast<unsigned long long*>(found) = object->dlpi_adds;
    return 1;
  };
  ::dl_iterate_phdr(first, &loads);
  return loads;
}

/// Slots that stay where they are until the end, to see by whether all are still ours.
struct Lasting {
  std::uintptr_t* address;
  const void* replacement;
};
std::array<Lasting, 8> lasting{};
std::size_t lasting_count = 0;

bool is_left_alone(const dl_phdr_info& object) noexcept {
  const char* name = object.dlpi_name == nullptr ? "" : object.dlpi_name;
  return std::strstr(name, "/ld-linux") != nullptr || std::strstr(name, "linux-vdso") != nullptr;
}

bool stays_loaded(const dl_phdr_info& object) noexcept {
  if (object.dlpi_name == nullptr || object.dlpi_name[0] == 0) return true;
  return std::strstr(object.dlpi_name, "/libc.so") != nullptr;
}

bool holds(const ImportSlot& slot, const void* function) noexcept {
  return reinterpret_cast<const void*>(__atomic_load_n(slot.address, __ATOMIC_ACQUIRE)) == function;
}

/// Sets the slots of one library.
class Setter {
 public:
  Setter(const ImportTables& tables, bool lasts, ImportWalk& done) noexcept
      : tables_(tables), lasts_(lasts), done_(done) {}

  void see(const ImportSlot& slot) noexcept {
    const Replacement* known = replacement_of(slot.name);
    if (known == nullptr || holds(slot, known->replacement)) return;
    if (holds(slot, known->original)) return set(slot, *known);
    // Through a slot of the program's, which is set.
    if (known->program_stub != nullptr && holds(slot, known->program_stub)) return;
    if (tables_.is_unbound(slot)) return wait(slot, *known);
    if (slot.is_call && known->allocates) add_foreign(slot);
  }

  /// A library that has one allocation function from elsewhere will have the others from there too,
  /// and what one allocates another must not release: then its unbound slots stay.
  void finish() noexcept {
    for (std::size_t at = 0; at < waiting_count_ && foreign_ == 0; ++at) {
      set(waiting_[at].slot, *waiting_[at].known);
    }
  }

 private:
  struct Waiting {
    ImportSlot slot;
    const Replacement* known;
  };

  void set(const ImportSlot& slot, const Replacement& known) noexcept {
    if (!write_slot(slot, known.replacement)) return;
    ++done_.set;
    if (lasts_ && lasting_count < lasting.size()) {
      lasting[lasting_count++] = {slot.address, known.replacement};
    }
  }
  void wait(const ImportSlot& slot, const Replacement& known) noexcept {
    if (waiting_count_ < waiting_.size()) waiting_[waiting_count_++] = {slot, &known};
  }
  void add_foreign(const ImportSlot& slot) noexcept {
    ++foreign_;
    if (done_.foreign++ == 0) {
      done_.first_foreign = reinterpret_cast<const void*>(*slot.address);
    }
  }

  const ImportTables& tables_;
  const bool lasts_;
  ImportWalk& done_;
  int foreign_ = 0;
  // A name has one call slot.
  std::array<Waiting, 24> waiting_{};
  std::size_t waiting_count_ = 0;
};

int list_library(dl_phdr_info* object, std::size_t, void*) noexcept {
  if (!is_left_alone(*object)) seen.add(*object, ImportTables(*object).dynamic());
  return 0;
}

struct Visit {
  ImportWalk done;
  bool outdated = false;
};

int set_library(dl_phdr_info* object, std::size_t, void* data) noexcept {
  Visit& visit = *static_cast<Visit*>(data);
  visit.outdated = seen.is_outdated(*object);
  if (visit.outdated) return 1;
  const ImportTables tables(*object);
  if (!seen.begin(*object, tables.dynamic())) return 0;
  Setter setter(tables, stays_loaded(*object), visit.done);
  tables.each([&](const ImportSlot& slot) { setter.see(slot); });
  setter.finish();
  return 0;
}

int restore_library(dl_phdr_info* object, std::size_t, void* restored) noexcept {
  ImportTables(*object).each([&](const ImportSlot& slot) {
    const Replacement* known = replacement_of(slot.name);
    if (known == nullptr || !holds(slot, known->replacement)) return;
    if (write_slot(slot, known->original)) ++*static_cast<int*>(restored);
  });
  return 0;
}

/// The loader lists a library before it has filled its tables and closed their pages. So the list
/// is made first; then whoever is loading is waited for; and only what was in the list is touched.
ImportWalk set_new_libraries() noexcept {
  // Threads may unload others all the time; what is left out then is seen with the next one.
  constexpr int kAttempts = 3;
  Visit visit;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto loads_before = loads();
    ::dl_iterate_phdr(list_library, nullptr);
    Dl_info unused{};
    // Takes the lock that the loader holds for as long as it loads.
    ::dladdr(reinterpret_cast<const void*>(&set_library), &unused);
    ::dl_iterate_phdr(set_library, &visit);
    if (visit.outdated) continue;
    seen_loads.store(loads_before, std::memory_order_relaxed);
    break;
  }
  return visit.done;
}

}  // namespace

ImportWalk replace_imports() noexcept {
  const Walk held;
  seen.forget();
  lasting_count = 0;
  return set_new_libraries();
}

int replace_new_imports() noexcept {
  if (loads() == seen_loads.load(std::memory_order_relaxed) || !try_begin_walk()) return 0;
  const int set = set_new_libraries().set;
  end_walk();
  return set;
}

int restore_imports() noexcept {
  const Walk held;
  lasting_count = 0;
  int restored = 0;
  ::dl_iterate_phdr(restore_library, &restored);
  return restored;
}

bool imports_were_taken_back() noexcept {
  for (std::size_t at = 0; at < lasting_count; ++at) {
    const auto held = __atomic_load_n(lasting[at].address, __ATOMIC_ACQUIRE);
    if (reinterpret_cast<const void*>(held) != lasting[at].replacement) return true;
  }
  return false;
}

CodeRange code_that_has(const void* function) noexcept {
  struct Wanted {
    std::uintptr_t function;
    CodeRange found;
  };
  Wanted wanted{reinterpret_cast<std::uintptr_t>(function), {}};
  const auto visit = [](dl_phdr_info* object, std::size_t, void* data) noexcept -> int {
    Wanted& wanted = *static_cast<Wanted*>(data);
    for (int at = 0; at < object->dlpi_phnum; ++at) {
      const auto& segment = object->dlpi_phdr[at];
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      const std::uintptr_t end = begin + segment.p_memsz;
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      if (wanted.function >= begin && wanted.function < end) wanted.found = {begin, end};
    }
    return wanted.found.begin != 0 ? 1 : 0;
  };
  ::dl_iterate_phdr(visit, &wanted);
  return wanted.found;
}

void end_walks_after_fork() noexcept { end_walk(); }

}  // namespace xleak::monitor
