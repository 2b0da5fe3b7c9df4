#include "source/nesting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace xleak::monitor::source {
namespace {

// tree-sitter 0.20 counts in 16 bits what stands on its stack when it meets an error (its issue
// 2134). A token is up to four entries there.
constexpr std::size_t kMostPending = 15000;
// No byte is more than one entry.
constexpr std::size_t kShortBytes = 60000;
// Of statements that are asked for errors together, and blanked together.
constexpr std::size_t kTokensOfPiece = 2000;

bool is_word_byte(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A statement does not end behind one of these.
constexpr std::array<std::string_view, 17> kWaiting = {
    "if",    "not",  "and",  "or",     "in",    "is",   "lambda", "else", "for",
    "while", "with", "elif", "except", "class", "from", "import", "as"};
// Nor does one begin with these.
constexpr std::array<std::string_view, 5> kContinuing = {"else", "elif", "except", "finally",
                                                         "case"};

/// Goes through a cell by tokens, and knows how many of them wait for others.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }
  std::uint32_t line() const { return line_; }
  std::size_t count() const { return count_; }
  bool has_too_many_pending() const { return pending_ > kMostPending; }

  /// Whether a statement of the outermost level begins here.
  bool begins_statement() const {
    const bool is_line = at_ > 0 && text_[at_ - 1] == '\n' && levels_.size() == 1 && is_complete_;
    if (!is_line || is_decorated_ || at_end() || !(is_word_byte(text_[at_]) || text_[at_] == '@'))
      return false;
    return !is_among(kContinuing, word_at(at_));
  }

  void forget_pending() {
    pending_ = lambdas_ = tries_ = 0;
    levels_ = {0};
  }

  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      end_line();
    } else if (is_space(c)) {
      ++at_;
    } else if (is_word_byte(c)) {
      take_word();
    } else if (c == '"' || c == '\'') {
      take_string(false);
    } else {
      take_sign(c);
    }
  }

 private:
  std::string_view word_at(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && is_word_byte(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  void end_line() {
    ++at_;
    ++line_;
    const bool is_whole = !std::exchange(is_unmatched_, false);
    if (levels_.size() > 1 || !is_complete_ || !is_whole) return;
    // What is decorated comes in the next line that is not empty.
    if (text_[line_start_] != '\n') is_decorated_ = text_[line_start_] == '@';
    line_start_ = at_;
    lambdas_ = 0;
    end_element();
  }

  void take_sign(char c) {
    ++at_;
    if (c == ',' || c == ';') return end_element();
    const bool closes = c == ')' || c == ']' || c == '}';
    const bool is_matched = closes && levels_.size() > 1;
    is_complete_ = is_matched || c == ':' || c == '.';
    if (is_matched) return close_bracket();
    is_unmatched_ |= closes;
    add();
    if (c == '(' || c == '[' || c == '{') levels_.push_back(0);
  }

  void take_word() {
    const std::string_view word = word_at(at_);
    at_ += word.size();
    if (!at_end() && (text_[at_] == '"' || text_[at_] == '\'')) {
      return take_string(word.find_first_of("fFtT") != std::string_view::npos);
    }
    add();
    is_complete_ = !is_among(kWaiting, word);
    // The commas between the parameters of the one end nothing, nor does a line the other.
    if (word == "lambda") ++lambdas_;
    if (word == "try") ++tries_;
  }

  // What is open in the code of a format string is open until its end.
  void take_string(bool holds_code) {
    add();
    is_complete_ = true;
    const std::size_t size = text_.substr(at_, 3) == std::string(3, text_[at_]) ? 3 : 1;
    const std::string_view end = text_.substr(at_, size);
    at_ += size;
    std::size_t code = 0;
    while (!at_end() && text_.substr(at_, size) != end) {
      if (text_[at_] == '\n' && size == 1) break;
      code += holds_code && !is_space(text_[at_]) ? 1 : 0;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    count_ += code;
    const bool is_ended = text_.substr(std::min(at_, text_.size()), size) == end;
    if (is_ended) at_ += size;
    // Where it is not ended, all of it may be waiting.
    add(is_ended ? 0 : code);
  }

  void add(std::size_t tokens = 1) {
    levels_.back() += tokens;
    pending_ += tokens;
    count_ += tokens;
  }

  void end_element() {
    const std::size_t kept = std::min(lambdas_ + tries_, levels_.back());
    pending_ -= levels_.back() - kept;
    levels_.back() = kept;
  }

  void close_bracket() {
    pending_ -= levels_.back();
    levels_.pop_back();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;  ///< Of the first line of what is being read.
  std::size_t count_ = 0;
  std::size_t pending_ = 0;
  std::size_t lambdas_ = 0;             ///< Since the statement began.
  std::size_t tries_ = 0;               ///< Since what was forgotten.
  std::vector<std::size_t> levels_{0};  ///< Tokens in each open bracket that wait.
  bool is_decorated_ = false;
  bool is_unmatched_ = false;  ///< The line closes what is not open.
  bool is_complete_ = true;    ///< By the last token, a statement may end here.
};

/// Takes a cell apart at statements of its outermost level.
class Pieces {
 public:
  Pieces(std::string_view text, const std::function<bool(std::string_view)>& has_error)
      : text_(text), has_error_(has_error), tokens_(text) {
    result_.text = text;
  }

  Readable run() {
    while (!tokens_.at_end()) {
      if (tokens_.begins_statement()) begin_statement();
      tokens_.next();
      if (tokens_.has_too_many_pending()) {
        blank(text_.size(), tokens_.line());
        return std::move(result_);
      }
    }
    end_piece();
    return std::move(result_);
  }

 private:
  void begin_statement() {
    if (tokens_.count() - count_at_start_ < kTokensOfPiece) return;
    end_piece();
    tokens_.forget_pending();
    start_ = tokens_.at();
    line_ = tokens_.line();
    count_at_start_ = tokens_.count();
  }

  void end_piece() {
    const std::string_view piece = text_.substr(start_, tokens_.at() - start_);
    // A longer one is a single statement, and what waits in it was counted.
    if (tokens_.count() - count_at_start_ > kMostPending) return;
    if (has_error_(piece)) blank(tokens_.at(), line_);
  }

  void blank(std::size_t end, std::uint32_t line) {
    if (result_.cut_line == 0) result_.cut_line = line;
    std::replace_if(
        result_.text.begin() + static_cast<std::ptrdiff_t>(start_),
        result_.text.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return c != '\n'; },
        ' ');
  }

  std::string_view text_;
  const std::function<bool(std::string_view)>& has_error_;
  Tokens tokens_;
  Readable result_;
  std::size_t start_ = 0;
  std::uint32_t line_ = 1;
  std::size_t count_at_start_ = 0;
};

}  // namespace

bool is_short(std::string_view text) { return text.size() <= kShortBytes; }

Readable readable(std::string_view text, const std::function<bool(std::string_view)>& has_error) {
  return Pieces(text, has_error).run();
}

}  // namespace xleak::monitor::source
