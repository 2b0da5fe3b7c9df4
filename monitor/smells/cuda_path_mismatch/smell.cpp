// Variables of the environment point to different installations of CUDA.
#include <algorithm>
#include <cctype>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::cuda_path_mismatch {
namespace {

using source::Field;
using source::Kind;

/// A variable that the code sets, and to what.
struct Setting {
  Finding at;
  std::string name;
  std::vector<std::string> versions;
  bool in_shell = false;
};

bool names_installation(std::string_view name) {
  return name == "CUDA_HOME" || name == "CUDA_PATH" || name == "CUDA_ROOT" || name == "PATH" ||
         name == "LD_LIBRARY_PATH" || name == "CUDA_TOOLKIT_ROOT_DIR" || name == "CUDADIR";
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The "11.8" of /usr/local/cuda-11.8/bin.
std::vector<std::string> versions_in(std::string_view text) {
  std::vector<std::string> versions;
  for (std::size_t at = text.find("cuda"); at != std::string_view::npos;
       at = text.find("cuda", at + 1)) {
    std::size_t start = at + 4;
    if (start < text.size() && (text[start] == '-' || text[start] == '/')) ++start;
    std::size_t end = start;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    std::string version(text.substr(start, end - start));
    while (!version.empty() && version.back() == '.') version.pop_back();
    if (version.find('.') != std::string::npos) versions.push_back(std::move(version));
  }
  return versions;
}

bool is_environment(const Expr& object) { return object.is_dotted({"os.environ"}); }

std::string_view key_of(const Expr& element) {
  const auto parts = element.children();
  return parts.size() == 2 ? parts.back().string() : std::string_view();
}

void add_assignments(const SourceView& code, std::vector<Setting>& settings) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    if (!left.is(Kind::subscript) || !is_environment(left.child(Field::object))) continue;
    const std::string_view name = key_of(left);
    if (!names_installation(name) || statement.is_guarded()) continue;
    settings.push_back(
        {left.finding(""), std::string(name), versions_in(statement.child(Field::right).text())});
  }
}

void add_calls(const SourceView& code, std::vector<Setting>& settings) {
  for (const Call& call : code.calls_to({"os.putenv", "os.environ.setdefault"})) {
    const auto arguments = call.arguments();
    if (arguments.size() != 2 || !names_installation(arguments[0].string())) continue;
    if (call.is_guarded()) continue;
    settings.push_back(
        {call.finding(""), std::string(arguments[0].string()), versions_in(arguments[1].text())});
  }
}

// `%env CUDA_HOME=/usr/local/cuda-11.8`, `%env CUDA_HOME /usr/…`, `!export CUDA_HOME=…`
void add_magics(const SourceView& code, std::vector<Setting>& settings) {
  for (const MagicLine& magic : code.magics()) {
    std::string_view rest = magic.rest;
    const bool in_shell = magic.name == "!" && rest.substr(0, 7) == "export ";
    if (in_shell) rest.remove_prefix(7);
    if (!in_shell && magic.name != "env" && magic.name != "set_env") continue;
    const std::size_t end = rest.find_first_of("= ");
    if (end == std::string_view::npos || !names_installation(rest.substr(0, end))) continue;
    settings.push_back({magic.finding(""), std::string(rest.substr(0, end)),
                        versions_in(rest.substr(end + 1)), in_shell});
  }
}

bool is_before(const Setting& a, const Setting& b) {
  return std::make_pair(a.at.cell, a.at.line) < std::make_pair(b.at.cell, b.at.line);
}

std::vector<Setting> settings_of(const SourceView& code) {
  std::vector<Setting> settings;
  if (code.uses("os")) {
    add_assignments(code, settings);
    add_calls(code, settings);
  }
  add_magics(code, settings);
  std::sort(settings.begin(), settings.end(), is_before);
  return settings;
}

void add_without_effect(Setting setting, std::vector<Finding>& findings) {
  setting.at.message = "`!export` sets `" + setting.name +
                       "` in a shell that ends with this line: the kernel does not see it. Use "
                       "`%env`.";
  setting.at.severity = Severity::note;
  findings.push_back(std::move(setting.at));
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const Setting* first = nullptr;
  const auto settings = settings_of(code);
  for (const Setting& setting : settings) {
    if (setting.in_shell) {
      add_without_effect(setting, findings);
      continue;
    }
    for (const std::string& version : setting.versions) {
      if (first == nullptr) first = &setting;
      const std::string& other = first->versions.front();
      if (version == other || (first != &setting && first->name == setting.name)) continue;
      Finding finding = setting.at;
      finding.message = "`" + setting.name + "` points to CUDA " + version + ", and `" +
                        first->name + "` to CUDA " + other +
                        ": libraries of both are loaded, or none fits and the device is not "
                        "used. Derive all of them from one root.";
      findings.push_back(std::move(finding));
      break;
    }
  }
  return findings;
}

// A second context has memory of the device that no counter of this process tells.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "This process is pointed at CUDA " + holder.largest + ": " + holder.label +
         ". Libraries of both are loaded, or none fits and the device is not used. Derive all of "
         "them from one root, and restart the kernel: what is loaded stays.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"CUDA paths", "", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL519", "cuda_path_mismatch", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::cuda_path_mismatch
