#include "proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "xleak/monitor/error.hpp"

namespace xleak::monitor {

ProcFile::ProcFile(const char* path) : path_(path), file_(::open(path, O_RDONLY | O_CLOEXEC)) {
  if (file_.number() < 0) throw_errno(std::string("cannot open ") + path);
}

std::string_view ProcFile::read(ProcBuffer& buffer) const {
  const auto got = ::pread(file_.number(), buffer.data(), buffer.size(), 0);
  if (got < 0) throw_errno(std::string("cannot read ") + path_);
  return {buffer.data(), static_cast<std::size_t>(got)};
}

std::optional<std::int64_t> kib_field(std::string_view text, std::string_view key) {
  auto at = text.find(key);
  // A key counts only at the start of a line: "HugeVmHWM:" is another one.
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
    at = text.find(key, at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(at + key.size(), text.find('\n', at) - at - key.size());
  const auto digits = line.find_first_not_of(" \t");
  if (digits == std::string_view::npos) return std::nullopt;
  std::int64_t kib = 0;
  const auto status = std::from_chars(line.data() + digits, line.data() + line.size(), kib).ec;
  // Its bytes must not overflow.
  if (status != std::errc{} || kib < 0 || kib > (std::int64_t{1} << 50)) return std::nullopt;
  return kib * 1024;
}

std::string_view read_text(const char* path, LargeProcBuffer& buffer) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const auto got = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace xleak::monitor
