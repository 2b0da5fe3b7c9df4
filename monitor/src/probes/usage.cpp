#include "probes/usage.hpp"

#include <sys/resource.h>

namespace xleak::monitor {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

Usage read_usage() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_minflt, usage.ru_majflt};
}

}  // namespace xleak::monitor
