#include "xleak/monitor/open_files.hpp"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "affix.hpp"

namespace xleak::monitor {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

struct stat facts_of(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) facts = {};
  return facts;
}

// Empty for what is no file.
std::string path_of(int descriptor, const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) return {};
  std::array<char, PATH_MAX> path;
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto length = ::readlink(link.c_str(), path.data(), path.size());
  return length < 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

// What SQLite opens and closes at any time, for IPython's history too.
bool passes(std::string_view path) {
  if (ends_with(path, kDeleted)) path.remove_suffix(kDeleted.size());
  return ends_with(path, "-journal");
}

bool counts(std::string_view path) {
  if (!starts_with(path, "/") || ends_with(path, kDeleted) || passes(path)) return false;
  for (const char* folder : {"/proc/", "/sys/", "/dev/"}) {
    if (starts_with(path, folder)) return false;
  }
  return !ends_with(path, "-wal") && !ends_with(path, "-shm");
}

}  // namespace

OpenFiles::OpenFiles() : folder_(::opendir("/proc/self/fd")) {
  if (folder_) folder_identity_ = identity_of(::dirfd(folder_.get()));
}

OpenFiles::~OpenFiles() { has_folder(); }

// Where user code closed the folder, the number of its descriptor may stand for a file of the
// user's, which closedir() would close and rewinddir() would rewind.
bool OpenFiles::has_folder() {
  if (folder_ && !(identity_of(::dirfd(folder_.get())) == folder_identity_)) {
    static_cast<void>(folder_.release());
    files_.clear();
  }
  return folder_ != nullptr;
}

bool OpenFiles::changed() {
  const bool had_folder = folder_ != nullptr;
  if (!has_folder()) return had_folder;
  if (is_as_before(state())) return false;
  read();
  return true;
}

OpenFiles::State OpenFiles::state() const {
  const int free = ::fcntl(::dirfd(folder_.get()), F_DUPFD_CLOEXEC, 0);
  if (free >= 0) ::close(free);
  struct stat facts {};
  ::fstat(::dirfd(folder_.get()), &facts);
  // Before Linux 6.2 the size is 0.
  const auto number =
      facts.st_size > 0 ? std::int64_t{facts.st_size} : static_cast<std::int64_t>(numbers().size());
  return {number, free};
}

std::vector<int> OpenFiles::numbers() const {
  std::vector<int> found;
  ::rewinddir(folder_.get());
  while (const dirent* entry = ::readdir(folder_.get())) {
    if (entry->d_name[0] != '.') found.push_back(std::atoi(entry->d_name));
  }
  return found;
}

bool OpenFiles::is_as_before(const State& now) const {
  if (!state_ || now.next < state_->next) return false;
  std::int64_t more = 0;
  for (int number = state_->next; number < now.next; ++number) {
    if (permanent_->count(number) != 0 || lasting_.count(number) != 0) continue;
    if (counts(path_of(number, facts_of(number)))) return false;
    ++more;
  }
  return more == now.number - state_->number && are_the_same();
}

bool OpenFiles::are_the_same() const {
  return std::all_of(lasting_.begin(), lasting_.end(),
                     [](const auto& before) { return identity_of(before.first) == before.second; });
}

void OpenFiles::read() {
  const State before = state();
  State lasting = before;
  // The folder whose names are being read is one of them.
  const std::set<int> permanent = permanent_.value_or(std::set<int>{::dirfd(folder_.get())});
  const bool is_first = !permanent_;
  permanent_.emplace();
  files_.clear();
  lasting_.clear();
  for (const int number : numbers()) {
    const struct stat facts = facts_of(number);
    const bool is_file = S_ISREG(facts.st_mode);
    if (!is_file && (permanent.count(number) != 0 || (is_first && !S_ISDIR(facts.st_mode)))) {
      permanent_->insert(number);
      continue;
    }
    std::string path = path_of(number, facts);
    // A database opens the folder too, to have its journal's end written.
    if (passes(path) || S_ISDIR(facts.st_mode)) {
      --lasting.number;
      lasting.next = std::min(lasting.next, number);
      continue;
    }
    lasting_[number] = {facts.st_dev, facts.st_ino};
    if (counts(path)) files_.push_back({number, std::move(path)});
  }
  state_ = lasting;
  // What another thread opened or closed meanwhile is looked for at the next call.
  if (!is_as_before(state())) state_.reset();
}

}  // namespace xleak::monitor
