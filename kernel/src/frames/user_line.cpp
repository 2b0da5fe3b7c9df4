#include "user_line.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <utility>

#include "facts/gil.hpp"
#include "layout.hpp"
#include "line_table.hpp"
#include "word_cache.hpp"

namespace xleak::frames {
namespace {

// A recursion of a library's that goes deeper has no line: each frame costs some nanoseconds.
constexpr int kMostFrames = 1024;
constexpr std::uint32_t kOfUser = 1;
constexpr std::uint32_t kOfLibrary = 2;

// Many functions share the name of one file: some hundreds are in use.
WordCache<1024> judged_files;
WordCache<4096> known_lines;
std::atomic<const UserFiles*> user_files{nullptr};
std::atomic<bool> is_on{false};
std::atomic<int> reading_without_gil{0};

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

[[gnu::noinline]] bool judge(const RawText& file, std::uint64_t key) noexcept {
  const bool is_of_user = user_files.load(std::memory_order_acquire)->have(file);
  judged_files.keep(key, is_of_user ? kOfUser : kOfLibrary);
  return is_of_user;
}

bool is_of_user(const RawText& file, std::uint64_t key) noexcept {
  const std::uint32_t known = judged_files.find(key);
  return known == 0 ? judge(file, key) : known == kOfUser;
}

std::uint64_t key_of_file(const PyCodeObject* code, const RawText& file) {
  return mixed(sample_of(file.data, file.bytes()), address_of(code->co_filename));
}

/// Code objects die and their memory is used again, so an address alone names none.
std::uint64_t key_of_line(const PyCodeObject* code, std::uint64_t file_key, std::ptrdiff_t offset) {
  PyObject* table = code->co_linetable;
  std::uint64_t sample = 0;
  if (table != nullptr && PyBytes_Check(table)) {
    sample = sample_of(PyBytes_AS_STRING(table), static_cast<std::size_t>(Py_SIZE(table)));
  }
  // Odd numbers, which keep addresses that lie in a row apart.
  const std::uint64_t where = address_of(code) * 0x9E3779B97F4A7C15 +
                              address_of(table) * 0xD1B54A32D192ED03 +
                              address_of(code->co_name) * 0xABC98388FB8FAC03;
  const auto first_line = static_cast<std::uint64_t>(code->co_firstlineno);
  constexpr unsigned kAboveOffsets = 32;
  const std::uint64_t line = first_line << kAboveOffsets ^ static_cast<std::uint64_t>(offset);
  return mixed(sample ^ file_key, where + line * 0x8CB92BA72F3D8DD7);
}

// Not part of the loop, whose frame on the stack would grow by its buffers.
[[gnu::noinline]] monitor::SiteIndex new_site(const PyCodeObject* code, std::ptrdiff_t offset,
                                              std::uint64_t key) noexcept {
  const Utf8 file(raw_text(code->co_filename));
  const Utf8 function(raw_text(code->co_name));
  const monitor::SiteIndex site =
      monitor::intern_site({file.c_str(), function.c_str(), line_at(code, offset)});
  if (site != 0) known_lines.keep(key, site);
  return site;
}

monitor::SiteIndex innermost_site(const PyThreadState* thread) noexcept {
  int left = kMostFrames;
  for (const Frame* frame = innermost(thread); frame != nullptr && left > 0; frame = outer(frame)) {
    --left;
    const PyCodeObject* code = code_of(frame);
    if (code == nullptr) continue;
    const RawText file = raw_text(code->co_filename);
    if (file.length == 0) continue;
    const std::uint64_t file_key = key_of_file(code, file);
    if (!is_of_user(file, file_key)) continue;
    const std::ptrdiff_t offset = offset_of(frame, code);
    const std::uint64_t key = key_of_line(code, file_key, offset);
    const std::uint32_t known = known_lines.find(key);
    return known != 0 ? known : new_site(code, offset, key);
  }
  return 0;
}

}  // namespace

monitor::SiteIndex user_line() noexcept {
  if (!is_on.load(std::memory_order_relaxed)) return 0;
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  if (thread == nullptr) return 0;
  // Python frees the states of other threads when it ends. Who has the GIL cannot meet that.
  if (facts::has_gil(thread)) return innermost_site(thread);
  reading_without_gil.fetch_add(1, std::memory_order_seq_cst);
  const monitor::SiteIndex site =
      is_on.load(std::memory_order_seq_cst) ? innermost_site(thread) : 0;
  reading_without_gil.fetch_sub(1, std::memory_order_release);
  return site;
}

void begin_reading(UserFiles files) {
  // In a child of fork() the threads that were reading are gone.
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { reading_without_gil = 0; });
  (void)registered;
  if (user_files.load() == nullptr) {
    user_files.store(std::make_unique<UserFiles>(std::move(files)).release());
  }
  is_on.store(true, std::memory_order_seq_cst);
}

void end_reading() noexcept {
  is_on.store(false, std::memory_order_seq_cst);
  while (reading_without_gil.load(std::memory_order_seq_cst) != 0) ::sched_yield();
}

void forget_lines() noexcept {
  judged_files.clear();
  known_lines.clear();
}

}  // namespace xleak::frames
