#include "user_files.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "facts/reference.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::frames {
namespace {

using facts::Reference;

constexpr std::array<std::string_view, 6> kNamesOfUsersCode{
    "<ipython-input-", "<timed exec>", "<timed eval>", "<stdin>", "<python-input-", "<console>"};
constexpr std::array<std::string_view, 2> kFoldersOfPackages{"/site-packages", "/dist-packages"};

template <class Text>
bool begins_with(const RawText& text, const Text& start) {
  if (text.length < start.size()) return false;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (text[i] != static_cast<Py_UCS4>(start[i])) return false;
  }
  return true;
}

bool ends_with(const RawText& text, std::string_view end) {
  if (text.length < end.size()) return false;
  for (std::size_t i = 0; i < end.size(); ++i) {
    if (text[text.length - end.size() + i] != static_cast<Py_UCS4>(end[i])) return false;
  }
  return true;
}

Reference call(const char* module, const char* function) {
  const auto imported = Reference::steal(PyImport_ImportModule(module));
  auto result =
      Reference::steal(imported ? PyObject_CallMethod(imported.get(), function, nullptr) : nullptr);
  if (!result) {
    PyErr_Clear();
    throw monitor::Error(std::string("cannot call ") + module + "." + function +
                         "(). Which lines are the user's is not known; memory has no lines.");
  }
  return result;
}

/// Asking `sysconfig` would import it and a table of how Python was built, for all to see.
void leave_out_standard_library(UserFiles& files) {
  const auto os = Reference::steal(PyImport_ImportModule("os"));
  const auto file = Reference::steal(os ? PyObject_GetAttrString(os.get(), "__file__") : nullptr);
  if (!file || !PyUnicode_CheckExact(file.get())) {
    PyErr_Clear();
    throw monitor::Error(
        "Python's own library has no folder: the module os has no __file__. Which lines are the "
        "user's is not known; memory has no lines.");
  }
  const Py_ssize_t length = PyUnicode_GET_LENGTH(file.get());
  const Py_ssize_t slash = PyUnicode_FindChar(file.get(), '/', 0, length, -1);
  files.leave_out(
      Reference::steal(PyUnicode_Substring(file.get(), 0, std::max<Py_ssize_t>(slash, 0))).get());
}

/// Those of a distribution's own packages, and of an environment's base, are in none of Python's
/// tables.
void leave_out_folders_of_packages(UserFiles& files, PyObject* folders) {
  if (folders == nullptr || !PyList_Check(folders)) return;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(folders); ++i) {
    PyObject* folder = PyList_GET_ITEM(folders, i);
    const RawText text = raw_text(folder);
    if (std::any_of(kFoldersOfPackages.begin(), kFoldersOfPackages.end(),
                    [&](std::string_view name) { return ends_with(text, name); })) {
      files.leave_out(folder);
    }
  }
}

void leave_out_xleak(UserFiles& files) {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&leave_out_xleak), &own) == 0) return;
  const std::string_view module = own.dli_fname;
  const auto length = static_cast<Py_ssize_t>(module.rfind('/'));
  const auto folder = Reference::steal(
      length < 0 ? nullptr : PyUnicode_DecodeFSDefaultAndSize(own.dli_fname, length));
  if (!folder) PyErr_Clear();
  files.leave_out(folder.get());
}

}  // namespace

UserFiles UserFiles::of_this_python() {
  UserFiles files;
  leave_out_standard_library(files);
  files.leave_out(call("site", "getusersitepackages").get());
  leave_out_folders_of_packages(files, call("site", "getsitepackages").get());
  leave_out_folders_of_packages(files, PySys_GetObject("path"));
  leave_out_xleak(files);
  return files;
}

void UserFiles::leave_out(PyObject* folder) {
  const RawText text = raw_text(folder);
  if (text.length == 0) return;
  std::u32string start;
  for (std::size_t i = 0; i < text.length; ++i) start.push_back(text[i]);
  if (start.back() != U'/') start.push_back(U'/');
  if (std::find(libraries_.begin(), libraries_.end(), start) == libraries_.end()) {
    libraries_.push_back(std::move(start));
  }
}

bool UserFiles::have(const RawText& file) const noexcept {
  if (file.length == 0) return false;
  const auto starts = [&file](const auto& start) { return begins_with(file, start); };
  if (file[0] == Py_UCS4{'<'}) {
    return std::any_of(kNamesOfUsersCode.begin(), kNamesOfUsersCode.end(), starts);
  }
  return std::none_of(libraries_.begin(), libraries_.end(), starts);
}

}  // namespace xleak::frames
