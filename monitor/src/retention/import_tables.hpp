#pragma once
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>

// What is known of import tables holds for this processor and this C library.
#if defined(__x86_64__) && defined(__GLIBC__)
#define XLEAK_KNOWS_IMPORT_TABLES 1
#else
#define XLEAK_KNOWS_IMPORT_TABLES 0
#endif

namespace xleak::monitor {

/// One word of a loaded library that holds, or is going to hold, the address of a function.
struct ImportSlot {
  std::uintptr_t* address = nullptr;
  const char* name = nullptr;
  bool is_call = false;       ///< For calls alone; else its address may be read too.
  bool is_imported = false;   ///< The library does not define the function itself.
  bool is_read_only = false;  ///< Since the library was loaded.
};

/// Reads the import tables of one loaded object, from its own memory. What a damaged table says is
/// not checked: the loader has followed it before.
class ImportTables {
 public:
  explicit ImportTables(const dl_phdr_info& object) noexcept;

  /// Whether it lies in a segment that has all of these flags, as PF_X.
  bool contains(std::uintptr_t address, ElfW(Word) flags = 0) const noexcept;
  /// Identifies the object together with its base, for as long as it is loaded.
  const void* dynamic() const noexcept { return dynamic_; }
  /// The function has not been called yet: there is a stub of the object's own in its slot.
  bool is_unbound(const ImportSlot& slot) const noexcept;
  /// Calls f for each slot that has a name.
  template <class F>
  void each(F f) const;

 private:
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    std::size_t count = 0;
  };
  void read_dynamic() noexcept;
  std::uintptr_t located(std::uintptr_t address) const noexcept;
  bool slot_of(const ElfW(Rela) & relocation, ImportSlot& slot) const noexcept;

  const dl_phdr_info& object_;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  Relocations data_;
  Relocations calls_;
  std::uintptr_t read_only_begin_ = 0;
  std::uintptr_t read_only_end_ = 0;
};

template <class F>
void ImportTables::each(F f) const {
  if (symbols_ == nullptr || names_ == nullptr) return;
  for (const Relocations& table : std::array{data_, calls_}) {
    for (std::size_t at = 0; at < table.count; ++at) {
      ImportSlot slot;
      if (slot_of(table.first[at], slot)) f(slot);
    }
  }
}

/// Puts an address into a slot; false where the page cannot be written. Other threads see the old
/// or the new one.
bool write_slot(const ImportSlot& slot, const void* function) noexcept;

}  // namespace xleak::monitor
