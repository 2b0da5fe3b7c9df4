#include "xleak/monitor/error.hpp"

#include <cerrno>
#include <system_error>

namespace xleak::monitor {

void throw_errno(const std::string& doing) {
  throw Error(doing + ": " + std::generic_category().message(errno));
}

}  // namespace xleak::monitor
