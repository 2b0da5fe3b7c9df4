// A library that is loaded after the ledger is installed: it allocates by its own import table.
#include <sys/mman.h>

#include <cstdlib>

extern "C" {

void* later_allocate(std::size_t bytes) { return std::malloc(bytes); }

void later_release(void* block) { std::free(block); }

void* later_map(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
}
