#include "probes/resident.hpp"

#include <unistd.h>

#include <charconv>

namespace xleak::monitor {

std::optional<std::int64_t> parse_statm_resident(std::string_view text, std::int64_t page_bytes) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto field = text.substr(space + 1, text.find_first_of(" \n", space + 1) - space - 1);
  std::int64_t pages = 0;
  const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), pages);
  if (status != std::errc{} || end != field.data() + field.size() || pages < 0) return std::nullopt;
  return pages * page_bytes;
}

Resident::Resident() : file_("/proc/self/statm"), page_bytes_(::sysconf(_SC_PAGESIZE)) {}

std::optional<std::int64_t> Resident::read() const noexcept {
  try {
    ProcBuffer buffer;
    return parse_statm_resident(file_.read(buffer), page_bytes_);
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace xleak::monitor
