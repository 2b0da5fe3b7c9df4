#include "debugger_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "xeus/xsystem.hpp"

namespace xleak::kernel {

std::string what_is_wrong_with_debugger_folder() {
  std::string folder = xeus::get_tmp_prefix("xpython");
  // With a slash at its end a link would be followed.
  folder.erase(folder.find_last_not_of('/') + 1);
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat found {};
  const bool is_own = ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                      found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (is_own) return "";
  return "the debugger needs the folder " + folder +
         " for itself, and it is not this user's alone. Point TMPDIR at another place and restart.";
}

}  // namespace xleak::kernel
