#include "probes/free_heap.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "probes/heap.hpp"
#include "proc_file.hpp"

namespace xleak::monitor {
namespace {

/// The number of an attribute such as `total="96"`; 0 where it is missing.
std::int64_t attribute(std::string_view element, std::string_view name) {
  const auto at = element.find(name);
  std::int64_t value = 0;
  if (at == std::string_view::npos) return 0;
  const auto digits = element.substr(at + name.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// The sum of an arena's free pieces: those of its fast lists, and the rest.
std::int64_t free_pieces(std::string_view arena) {
  std::int64_t sum = 0;
  for (const std::string_view kind : {"<total type=\"fast\"", "<total type=\"rest\""}) {
    const auto at = arena.find(kind);
    if (at != std::string_view::npos) sum += attribute(arena.substr(at), "size=\"");
  }
  return sum;
}

}  // namespace

std::string malloc_info_text() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  if (stream == nullptr) return {};
  ::malloc_info(0, stream);
  std::fclose(stream);
  const std::string result(text, size);
  std::free(text);
  return result;
}

std::int64_t resident_free_bytes(std::string_view malloc_info, std::int64_t first_arena) {
  constexpr std::string_view kEnd = "</heap>";
  std::int64_t sum = 0;
  bool is_first = true;
  for (auto end = malloc_info.find(kEnd); end != std::string_view::npos;
       end = malloc_info.find(kEnd)) {
    const auto arena = malloc_info.substr(0, end);
    const std::int64_t free = free_pieces(arena);
    const auto system = arena.find("<system type=\"current\"");
    // What was given back to the system stays in its lists.
    const std::int64_t used =
        system == std::string_view::npos ? 0 : attribute(arena.substr(system), "size=\"") - free;
    sum += is_first ? std::clamp<std::int64_t>(first_arena - used, 0, free) : free;
    is_first = false;
    malloc_info.remove_prefix(end + kEnd.size());
  }
  return sum;
}

std::int64_t trimmable_bytes(std::string_view malloc_info) {
  static const std::int64_t lost = 2 * ::sysconf(_SC_PAGESIZE);
  std::int64_t sum = 0;
  // Beyond the list of sizes come the sums of the arena and the arenas of other threads.
  std::string_view rest = malloc_info.substr(0, malloc_info.find("</sizes>"));
  for (auto at = rest.find("total=\""); at != std::string_view::npos; at = rest.find("total=\"")) {
    rest.remove_prefix(at);
    const auto element = rest.substr(0, rest.find("/>"));
    const auto pieces = attribute(element, "count=\"");
    sum += std::max<std::int64_t>(0, attribute(element, "total=\"") - pieces * lost);
    rest.remove_prefix(element.size());
  }
  return sum;
}

std::optional<std::int64_t> resident_heap_bytes(std::istream& smaps) {
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find("[heap]") != std::string::npos) inside = true;
    if (inside && line.rfind("Rss:", 0) == 0) return kib_field(line, "Rss:");
  }
  return std::nullopt;
}

std::optional<std::int64_t> releasable_heap_bytes() {
  const auto heap = try_read_heap();
  if (!heap) return std::nullopt;
  const auto trimmable = trimmable_bytes(malloc_info_text());
  // What was given back stays in malloc's lists, so what is resident has the last word.
  std::ifstream smaps("/proc/self/smaps");
  const auto resident = resident_heap_bytes(smaps);
  if (!resident) return std::nullopt;
  const std::int64_t used = static_cast<std::int64_t>(::mallinfo2().uordblks);
  return std::max<std::int64_t>(0, std::min(trimmable, *resident - used));
}

}  // namespace xleak::monitor
