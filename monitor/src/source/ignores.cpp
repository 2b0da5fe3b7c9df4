#include "source/ignores.hpp"

#include <algorithm>

#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

constexpr std::string_view kMark = "xleak:";
constexpr std::string_view kWord = "ignore";

std::string_view without_space(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> listed(std::string_view codes) {
  std::vector<std::string_view> result;
  while (!codes.empty()) {
    const std::size_t comma = std::min(codes.find(','), codes.size());
    const std::string_view code = without_space(codes.substr(0, comma));
    if (!code.empty()) result.push_back(code);
    codes.remove_prefix(std::min(comma + 1, codes.size()));
  }
  return result;
}

}  // namespace

Ignores::Ignores(const Program& program) {
  for (std::size_t cell = 0; cell < program.cells.size(); ++cell) {
    for (const std::string& tag : program.cells[cell].tags) add(program.cells[cell].index, 0, tag);
  }
  for (const Remark& remark : program.remarks) add(remark.cell, remark.line, remark.text);
}

void Ignores::add(int cell, int line, std::string_view text) {
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return;
  std::string_view rest = without_space(text.substr(mark + kMark.size()));
  if (rest.substr(0, kWord.size()) != kWord) return;
  rest = without_space(rest.substr(kWord.size()));
  std::vector<std::string_view> codes;
  if (!rest.empty() && rest.front() == '[') {
    codes = listed(rest.substr(1, std::min(rest.find(']'), rest.size()) - 1));
  }
  ignores_.push_back({cell, line, without_space(text), std::move(codes)});
}

bool Ignores::covers(const Verdict& verdict) {
  bool covered = false;
  for (Ignore& ignore : ignores_) {
    if (ignore.cell != verdict.finding.cell) continue;
    if (ignore.line != 0 && ignore.line != verdict.finding.line) continue;
    const auto& codes = ignore.codes;
    if (!codes.empty() &&
        std::find(codes.begin(), codes.end(), verdict.smell->code) == codes.end()) {
      continue;
    }
    ignore.used = covered = true;
  }
  return covered;
}

std::vector<UnusedIgnore> Ignores::unused() const {
  std::vector<UnusedIgnore> result;
  for (const Ignore& ignore : ignores_) {
    if (!ignore.used) result.push_back({ignore.cell, ignore.line, std::string(ignore.text)});
  }
  return result;
}

}  // namespace xleak::monitor::source
