#include "retention/import_tables.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <map>
#include <string>
#include <vector>

using namespace xleak::monitor;

#if XLEAK_KNOWS_IMPORT_TABLES

namespace {

/// A library as the loader leaves it in memory, of four pages: code, tables, two of slots.
class FakeLibrary {
 public:
  static constexpr std::size_t kPage = 4096;

  FakeLibrary() : memory_(map_pages()), base_(reinterpret_cast<std::uintptr_t>(memory_)) {
    symbols_.push_back({});
    segments_ = {segment(PT_LOAD, 0, kPage, PF_R | PF_X), segment(PT_LOAD, kPage, 3 * kPage, PF_R)};
  }
  ~FakeLibrary() { ::munmap(memory_, 4 * kPage); }
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;

  std::uintptr_t code(std::size_t offset) const { return base_ + offset; }
  std::uintptr_t* slot(std::size_t index) const {
    return reinterpret_cast<std::uintptr_t*>(base_ + 2 * kPage) + index;
  }
  void import(std::size_t index, unsigned type, const char* name, std::int64_t addend = 0,
              bool defined = false) {
    ElfW(Sym) symbol{};
    symbol.st_name = static_cast<ElfW(Word)>(names_.size());
    symbol.st_shndx = defined ? 1 : SHN_UNDEF;
    names_ += name;
    names_ += '\0';
    symbols_.push_back(symbol);
    const auto at = reinterpret_cast<std::uintptr_t>(slot(index)) - base_;
    auto& table = type == R_X86_64_JUMP_SLOT ? calls_ : data_;
    table.push_back({at, ELF64_R_INFO(symbols_.size() - 1, type), addend});
  }
  void add_relative() { data_.insert(data_.begin(), {0, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0}); }
  /// The first page of slots is closed.
  void close_first_page() {
    segments_.push_back(segment(PT_GNU_RELRO, 2 * kPage, kPage, PF_R));
    ::mprotect(slot(0), kPage, PROT_READ);
  }

  /// As the loader lists it.
  dl_phdr_info listed() {
    const auto place = [](const void* table) { return reinterpret_cast<std::uintptr_t>(table); };
    dynamic_.clear();
    const auto add = [&](ElfW(Sxword) tag, std::uintptr_t value) {
      dynamic_.push_back({tag, {value}});
    };
    add(DT_SYMTAB, place(symbols_.data()));
    add(DT_STRTAB, place(names_.data()));
    add(DT_RELA, place(data_.data()));
    add(DT_RELASZ, data_.size() * sizeof(ElfW(Rela)));
    add(DT_JMPREL, place(calls_.data()));
    add(DT_PLTRELSZ, calls_.size() * sizeof(ElfW(Rela)));
    std::size_t relative = 0;
    while (relative < data_.size() && ELF64_R_TYPE(data_[relative].r_info) == R_X86_64_RELATIVE) {
      ++relative;
    }
    add(DT_RELACOUNT, relative);
    add(DT_NULL, 0);
    listed_segments_ = segments_;
    const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_.data()) - base_;
    listed_segments_.push_back(segment(PT_DYNAMIC, dynamic, 0, PF_R));
    dl_phdr_info info{};
    info.dlpi_addr = base_;
    info.dlpi_phdr = listed_segments_.data();
    info.dlpi_phnum = static_cast<ElfW(Half)>(listed_segments_.size());
    return info;
  }

 private:
  static void* map_pages() {
    // Low, so that what lies elsewhere has addresses above the base.
    return ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  }
  static ElfW(Phdr)
      segment(ElfW(Word) type, std::uintptr_t at, std::size_t bytes, ElfW(Word) flags) {
    ElfW(Phdr) segment{};
    segment.p_type = type;
    segment.p_vaddr = at;
    segment.p_memsz = bytes;
    segment.p_flags = flags;
    return segment;
  }

  void* memory_;
  std::uintptr_t base_;
  std::string names_{'\0'};
  std::vector<ElfW(Sym)> symbols_;
  std::vector<ElfW(Rela)> data_;
  std::vector<ElfW(Rela)> calls_;
  std::vector<ElfW(Dyn)> dynamic_;
  std::vector<ElfW(Phdr)> segments_;
  std::vector<ElfW(Phdr)> listed_segments_;
};

std::map<std::string, ImportSlot> slots_of(const ImportTables& tables) {
  std::map<std::string, ImportSlot> slots;
  tables.each([&](const ImportSlot& slot) { slots[slot.name] = slot; });
  return slots;
}

}  // namespace

TEST_SUITE("import_tables") {
  TEST_CASE("calls, addresses and plain data are slots, and nothing else") {
    FakeLibrary library;
    library.import(0, R_X86_64_JUMP_SLOT, "malloc");
    library.import(1, R_X86_64_GLOB_DAT, "free");
    library.import(2, R_X86_64_64, "calloc");
    library.import(3, R_X86_64_DTPMOD64, "errno");
    const auto info = library.listed();
    const auto slots = slots_of(ImportTables(info));
    REQUIRE(slots.size() == 3);
    CHECK(slots.at("malloc").is_call);
    CHECK(slots.at("malloc").address == library.slot(0));
    CHECK_FALSE(slots.at("free").is_call);
    CHECK_FALSE(slots.at("calloc").is_call);
    CHECK(slots.at("calloc").address == library.slot(2));
  }

  TEST_CASE("data that points behind a function's beginning is no slot") {
    FakeLibrary library;
    library.import(0, R_X86_64_64, "malloc", 8);
    const auto info = library.listed();
    CHECK(slots_of(ImportTables(info)).empty());
  }

  TEST_CASE("relative relocations are stepped over, however many") {
    FakeLibrary library;
    library.import(0, R_X86_64_GLOB_DAT, "malloc");
    for (int count = 0; count < 1000; ++count) library.add_relative();
    const auto info = library.listed();
    CHECK(slots_of(ImportTables(info)).size() == 1);
  }

  TEST_CASE("a library without tables has no slots") {
    dl_phdr_info info{};
    CHECK(slots_of(ImportTables(info)).empty());
    CHECK_FALSE(ImportTables(info).contains(0));
  }

  TEST_CASE("a call is unbound while its slot leads into the library's own code") {
    FakeLibrary library;
    library.import(0, R_X86_64_JUMP_SLOT, "malloc");
    library.import(1, R_X86_64_JUMP_SLOT, "free", 0, /*defined=*/true);
    library.import(2, R_X86_64_GLOB_DAT, "calloc");
    for (const std::size_t index : {0, 1, 2}) *library.slot(index) = library.code(16);
    const auto info = library.listed();
    const ImportTables tables(info);
    const auto slots = slots_of(tables);
    CHECK(tables.is_unbound(slots.at("malloc")));
    CHECK_FALSE(tables.is_unbound(slots.at("free")));
    CHECK_FALSE(tables.is_unbound(slots.at("calloc")));
    // Of no code: a page of slots.
    *library.slot(0) = reinterpret_cast<std::uintptr_t>(library.slot(5));
    CHECK_FALSE(tables.is_unbound(slots.at("malloc")));
  }

  TEST_CASE("a slot on a closed page is written, and the page is closed again") {
    FakeLibrary library;
    library.import(0, R_X86_64_GLOB_DAT, "malloc");
    library.import(512, R_X86_64_GLOB_DAT, "free");
    library.close_first_page();
    const auto info = library.listed();
    const auto slots = slots_of(ImportTables(info));
    CHECK(slots.at("malloc").is_read_only);
    CHECK_FALSE(slots.at("free").is_read_only);
    for (const auto& [name, slot] : slots) {
      CHECK(write_slot(slot, &library));
      CHECK(*slot.address == reinterpret_cast<std::uintptr_t>(&library));
    }
    // The system refuses to write into the page.
    CHECK(::mprotect(library.slot(0), FakeLibrary::kPage, PROT_READ) == 0);
  }

  TEST_CASE("the libraries of this process import from libc") {
    int found = 0;
    const auto visit = [](dl_phdr_info* object, std::size_t, void* count) -> int {
      ImportTables(*object).each([&](const ImportSlot& slot) {
        *static_cast<int*>(count) += std::string(slot.name) == "memcpy" ? 1 : 0;
      });
      return 0;
    };
    ::dl_iterate_phdr(visit, &found);
    CHECK(found > 0);
  }
}

#endif
