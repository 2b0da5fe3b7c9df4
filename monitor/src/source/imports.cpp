#include "source/imports.hpp"

namespace xleak::monitor::source {

std::string absolute_import(std::string_view path, std::string_view package) {
  if (path.empty() || path.front() != '.') return std::string(path);
  // The first dot is the package itself; each dot but the last has the joining one behind it.
  for (path.remove_prefix(1); path.substr(0, 2) == ".."; path.remove_prefix(2)) {
    const std::size_t dot = package.rfind('.');
    package = dot == std::string_view::npos ? std::string_view() : package.substr(0, dot);
  }
  return package.empty() ? std::string() : std::string(package).append(path);
}

}  // namespace xleak::monitor::source
