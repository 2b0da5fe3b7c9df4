#include "retention/import_tables.hpp"

#include <sys/mman.h>

namespace xleak::monitor {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;

}  // namespace

ImportTables::ImportTables(const dl_phdr_info& object) noexcept : object_(object) {
  for (int at = 0; at < object.dlpi_phnum; ++at) {
    const auto& segment = object.dlpi_phdr[at];
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (segment.p_type == PT_GNU_RELRO) {
      read_only_begin_ = begin;
      // The loader closes whole pages.
      read_only_end_ = (begin + segment.p_memsz) & ~(kPageBytes - 1);
    }
  }
  if (dynamic_ != nullptr) read_dynamic();
}

/// glibc writes addresses into the dynamic section where it may; the vDSO and others keep offsets.
std::uintptr_t ImportTables::located(std::uintptr_t address) const noexcept {
  return address < object_.dlpi_addr ? address + object_.dlpi_addr : address;
}

void ImportTables::read_dynamic() noexcept {
  std::size_t relative = 0;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    const std::uintptr_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(located(value));
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(located(value));
        break;
      case DT_RELA:
        data_.first = reinterpret_cast<const ElfW(Rela)*>(located(value));
        break;
      case DT_RELASZ:
        data_.count = value / sizeof(ElfW(Rela));
        break;
      case DT_RELACOUNT:
        relative = value;
        break;
      case DT_JMPREL:
        calls_.first = reinterpret_cast<const ElfW(Rela)*>(located(value));
        break;
      case DT_PLTRELSZ:
        calls_.count = value / sizeof(ElfW(Rela));
        break;
      default:
        break;
    }
  }
  // The relative ones, most of a large library's, come first and have no name.
  if (relative > data_.count) relative = data_.count;
  data_.first += relative;
  data_.count -= relative;
}

bool ImportTables::contains(std::uintptr_t address, ElfW(Word) flags) const noexcept {
  for (int at = 0; at < object_.dlpi_phnum; ++at) {
    const auto& segment = object_.dlpi_phdr[at];
    if (segment.p_type != PT_LOAD || (segment.p_flags & flags) != flags) continue;
    const std::uintptr_t begin = object_.dlpi_addr + segment.p_vaddr;
    if (address >= begin && address < begin + segment.p_memsz) return true;
  }
  return false;
}

bool ImportTables::is_unbound(const ImportSlot& slot) const noexcept {
  // What an object defines itself is bound to itself, and lies in its own code for good.
  return slot.is_call && slot.is_imported &&
         contains(__atomic_load_n(slot.address, __ATOMIC_ACQUIRE), PF_X);
}

bool ImportTables::slot_of(const ElfW(Rela) & relocation, ImportSlot& slot) const noexcept {
#if XLEAK_KNOWS_IMPORT_TABLES
  const auto type = ELF64_R_TYPE(relocation.r_info);
  const bool is_call = type == R_X86_64_JUMP_SLOT;
  const bool is_data = type == R_X86_64_64 && relocation.r_addend == 0;
  if (!is_call && type != R_X86_64_GLOB_DAT && !is_data) return false;
  const auto symbol = ELF64_R_SYM(relocation.r_info);
  if (symbol == 0) return false;
  slot.address = reinterpret_cast<std::uintptr_t*>(object_.dlpi_addr + relocation.r_offset);
  slot.name = names_ + symbols_[symbol].st_name;
  slot.is_call = is_call;
  slot.is_imported = symbols_[symbol].st_shndx == SHN_UNDEF;
  const auto at = reinterpret_cast<std::uintptr_t>(slot.address);
  slot.is_read_only = at >= read_only_begin_ && at < read_only_end_;
  return true;
#else
  (void)relocation;
  (void)slot;
  return false;
#endif
}

bool write_slot(const ImportSlot& slot, const void* function) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(slot.address);
  void* const page = reinterpret_cast<void*>(at & ~(kPageBytes - 1));
  if (slot.is_read_only && ::mprotect(page, kPageBytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot.address, reinterpret_cast<std::uintptr_t>(function), __ATOMIC_RELEASE);
  // Others may be reading from the page, which is possible all the while.
  if (slot.is_read_only) ::mprotect(page, kPageBytes, PROT_READ);
  return true;
}

}  // namespace xleak::monitor
