#include "xleak/monitor/open_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace xleak::monitor;

namespace {

/// A file of its own in the folder for temporary files, open until close() or the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix)
      : path_("/tmp/xleak_XXXXXX" + suffix),
        descriptor_(::mkstemps(path_.data(), static_cast<int>(suffix.size()))) {
    REQUIRE(descriptor_ >= 0);
  }
  ~TemporaryFile() {
    close();
    ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  bool is_among(const OpenFiles& open) const {
    return std::any_of(open.files().begin(), open.files().end(),
                       [&](const OpenFile& file) { return file.path == path_; });
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

TEST_SUITE("open files") {
  TEST_CASE("what is opened and closed is a change, and nothing else is") {
    OpenFiles open;
    CHECK(open.changed());
    CHECK_FALSE(open.changed());
    TemporaryFile rows(".csv");
    CHECK(open.changed());
    CHECK(rows.is_among(open));
    CHECK_FALSE(open.changed());
    rows.close();
    CHECK(open.changed());
    CHECK_FALSE(rows.is_among(open));
  }

  TEST_CASE("one that is opened before another is closed is a change") {
    TemporaryFile first(".csv");
    OpenFiles open;
    open.changed();
    const TemporaryFile second(".csv");
    first.close();
    CHECK(open.changed());
    CHECK(second.is_among(open));
    CHECK_FALSE(first.is_among(open));
  }

  TEST_CASE("a journal of a database comes and goes unseen") {
    OpenFiles open;
    open.changed();
    TemporaryFile journal(".sqlite-journal");
    CHECK_FALSE(open.changed());
    journal.close();
    CHECK_FALSE(open.changed());
  }

  TEST_CASE("a journal hides no file beside it") {
    OpenFiles open;
    open.changed();
    TemporaryFile journal(".sqlite-journal");
    const TemporaryFile rows(".csv");
    CHECK(open.changed());
    CHECK(rows.is_among(open));
    CHECK_FALSE(journal.is_among(open));
    journal.close();
    CHECK_FALSE(open.changed());
  }

  TEST_CASE("a journal that was there first hides no file that takes its number") {
    TemporaryFile journal(".sqlite-journal");
    OpenFiles open;
    open.changed();
    journal.close();
    const TemporaryFile rows(".csv");
    CHECK(open.changed());
    CHECK(rows.is_among(open));
  }

  TEST_CASE("a file that takes the number of a socket is a change") {
    OpenFiles open;
    open.changed();
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TemporaryFile first(".csv");
    CHECK(open.changed());
    ::close(socket);
    const TemporaryFile second(".csv");
    CHECK(open.changed());
    CHECK(second.is_among(open));
  }

  TEST_CASE("a file that takes the number of a folder is a change") {
    OpenFiles open;
    open.changed();
    const int folder = ::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    TemporaryFile first(".csv");
    CHECK(open.changed());
    ::close(folder);
    const TemporaryFile second(".csv");
    CHECK(open.changed());
    CHECK(second.is_among(open));
    CHECK_FALSE(open.changed());
  }

  TEST_CASE("a file that takes the number of another file is a change") {
    TemporaryFile first(".csv");
    OpenFiles open;
    open.changed();
    first.close();
    const TemporaryFile second(".csv");
    CHECK(open.changed());
    CHECK(second.is_among(open));
    CHECK_FALSE(first.is_among(open));
  }

  TEST_CASE("a socket is no file") {
    OpenFiles open;
    open.changed();
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(socket >= 0);
    CHECK_FALSE(open.changed());
    ::close(socket);
  }
}
