#include "limits.hpp"

#include <ctime>

namespace xleak::facts {

bool Limits::reached() const { return late() || (interrupted && interrupted()); }

ThreadClock::time_point ThreadClock::now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + duration(time.tv_nsec));
}

bool Limits::late() const { return deadline && ThreadClock::now() >= *deadline; }

}  // namespace xleak::facts
