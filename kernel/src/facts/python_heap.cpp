#include "python_heap.hpp"

#include <Python.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace xleak::facts {
namespace {

/// The number behind `label … = `, with thousands separators.
std::optional<std::int64_t> number_after(const char* text, const char* label) {
  const char* at = std::strstr(text, label);
  if (at == nullptr) return std::nullopt;
  at = std::strchr(at, '=');
  if (at == nullptr) return std::nullopt;
  std::int64_t number = 0;
  for (++at; *at != '\0' && *at != '\n'; ++at) {
    if (*at >= '0' && *at <= '9') number = number * 10 + (*at - '0');
  }
  return number;
}

}  // namespace

std::optional<PythonPools> python_pools() {
  using Statistics = int (*)(FILE*);
  static const auto statistics =
      reinterpret_cast<Statistics>(::dlsym(RTLD_DEFAULT, "_PyObject_DebugMallocStats"));
  if (statistics == nullptr) return std::nullopt;
  char* text = nullptr;
  std::size_t size = 0;
  FILE* stream = ::open_memstream(&text, &size);
  if (stream == nullptr) return std::nullopt;
  statistics(stream);
  std::fclose(stream);
  const std::unique_ptr<char, void (*)(void*)> owner(text, std::free);
  const auto used = number_after(text, "# bytes in allocated blocks");
  // The line "12 arenas * 1048576 bytes/arena".
  const auto arenas = number_after(text, "bytes/arena");
  return used && arenas ? std::optional(PythonPools{*used, *arenas}) : std::nullopt;
}

}  // namespace xleak::facts
