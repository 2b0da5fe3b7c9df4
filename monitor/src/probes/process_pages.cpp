#include "probes/process_pages.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "probes/free_heap.hpp"
#include "probes/heap.hpp"
#include "proc_file.hpp"
#include "retention/resident_pages.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor {
namespace {

// glibc gives the arenas of other threads maps of this size, at multiples of it.
constexpr std::uintptr_t kArenaBytes = std::uintptr_t{64} << 20;

struct Map {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_accessible = false;
  bool is_file = false;
  bool is_shared = false;
  bool is_heap = false;
  std::int64_t bytes = 0;  ///< In memory.
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [name](std::string_view beginning) {
    return name.substr(0, beginning.size()) == beginning;
  });
}

/// Of a line such as "7f00-7f10 rw-p 00000000 fd:00 42   /usr/lib/libc.so.6".
std::optional<Map> read_map(const std::string& line) {
  Map map;
  std::array<char, 5> rights{};
  int name_at = 0;
  const int read = std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n",
                               &map.begin, &map.end, rights.data(), &name_at);
  if (read < 3) return std::nullopt;
  const std::string_view name = std::string_view(line).substr(static_cast<std::size_t>(name_at));
  map.is_accessible = rights[0] == 'r';
  map.is_shared = is_one_of(name, {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero"});
  map.is_file = !map.is_shared && is_one_of(name, {"/"});
  map.is_heap = name == "[heap]";
  return map;
}

std::vector<Map> read_maps(std::istream& smaps) {
  std::vector<Map> maps;
  for (std::string line; std::getline(smaps, line);) {
    if (const auto bytes = kib_field(line, "Rss:"); bytes && line.compare(0, 4, "Rss:") == 0) {
      if (!maps.empty()) maps.back().bytes = *bytes;
    } else if (const auto map = read_map(line)) {
      maps.push_back(*map);
    }
  }
  return maps;
}

/// What of a map is a library's zeros.
std::int64_t zeros_in(const Map& map, const std::vector<Segment>& segments) {
  std::int64_t bytes = 0;
  for (const Segment& segment : segments) {
    const auto begin = std::max(map.begin, segment.begin);
    const auto end = std::min(map.end, segment.end);
    if (begin < end) bytes += static_cast<std::int64_t>(end - begin);
  }
  return std::min(map.bytes, bytes);
}

int add_segments(dl_phdr_info* library, std::size_t, void* list) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int at = 0; at < library->dlpi_phnum; ++at) {
    const auto& part = library->dlpi_phdr[at];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
    const std::uintptr_t end = begin + part.p_memsz;
    static_cast<std::vector<Segment>*>(list)->push_back(
        {begin / page * page, (end + page - 1) / page * page});
  }
  return 0;
}

/// Whether a map is in use by an arena of another thread: what that has in reserve lies behind it.
bool is_arena(const std::vector<Map>& maps, std::size_t at) {
  const Map& map = maps[at];
  if (map.is_file || map.is_shared || map.begin % kArenaBytes != 0) return false;
  if (map.end - map.begin == kArenaBytes) return true;
  return at + 1 < maps.size() && !maps[at + 1].is_accessible && maps[at + 1].begin == map.end &&
         maps[at + 1].end == map.begin + kArenaBytes;
}

}  // namespace

ProcessPages process_pages(std::istream& smaps, std::string_view malloc_info,
                           const std::vector<Segment>& segments,
                           const std::vector<ResidentBlock>& blocks) {
  const std::vector<Map> maps = read_maps(smaps);
  ProcessPages pages;
  std::int64_t first_arena = 0, arenas = 0, large = 0;
  auto block = blocks.begin();
  for (std::size_t at = 0; at < maps.size(); ++at) {
    const Map& map = maps[at];
    while (block != blocks.end() && block->block.address < map.begin) ++block;
    const bool is_private = !map.is_file && !map.is_shared;
    const std::int64_t zeros = is_private ? zeros_in(map, segments) : 0;
    pages.files += map.is_file ? map.bytes : zeros;
    pages.shared += map.is_shared ? map.bytes : 0;
    pages.others += is_private ? map.bytes - zeros : 0;
    if (map.is_heap) first_arena += map.bytes;
    std::int64_t inside = 0;
    for (; is_private && block != blocks.end() && block->block.address < map.end; ++block) {
      pages.blocks.push_back(block->block);
      inside += block->bytes;
    }
    if (!map.is_heap && !is_arena(maps, at)) continue;
    arenas += map.bytes;
    large += inside;
  }
  pages.free_heap = std::min(arenas, resident_free_bytes(malloc_info, first_arena));
  pages.small_heap = std::max<std::int64_t>(0, arenas - pages.free_heap - large);
  return pages;
}

ProcessPages process_pages() {
  if (!try_read_heap()) {
    throw Error("what the pages of this process are cannot be read: malloc is not that of glibc.");
  }
  const std::vector<LargeBlock> known = living_blocks();
  const std::vector<std::int64_t> resident = resident_bytes(known);
  std::vector<ResidentBlock> blocks;
  for (std::size_t at = 0; at < known.size(); ++at) blocks.push_back({known[at], resident[at]});
  std::vector<Segment> segments;
  ::dl_iterate_phdr(add_segments, &segments);
  const std::string malloc_info = malloc_info_text();
  std::ifstream smaps("/proc/self/smaps");
  ProcessPages pages = process_pages(smaps, malloc_info, segments, blocks);
  if (pages.files == 0) throw Error("the pages of this process cannot be read: /proc/self/smaps.");
  return pages;
}

std::vector<std::int64_t> resident_bytes(const std::vector<LargeBlock>& blocks) {
  const ResidentPages pages;
  std::vector<std::int64_t> bytes;
  bytes.reserve(blocks.size());
  for (const LargeBlock& block : blocks) {
    const std::int64_t asked = std::max(block.bytes, block.reserved_bytes);
    const bool is_known = block.kind != BlockKind::heap && block.kind != BlockKind::file_map;
    const auto used = is_known ? std::nullopt : pages.bytes(block.address, asked);
    bytes.push_back(std::min(block.bytes, used.value_or(block.bytes)));
  }
  return bytes;
}

}  // namespace xleak::monitor
