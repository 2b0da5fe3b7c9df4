// What fixes write, and where: see xleak/monitor/source.hpp.
#include <string>

#include "source/files.hpp"
#include "source/program.hpp"

namespace xleak::monitor {

using source::Field;
using source::Kind;

Edit Expr::replaced_by(std::string text) const {
  const source::Node& node = program_->node(node_);
  return {cell(), node.start, node.stop, std::move(text)};
}

Edit Expr::followed_by(std::string text) const {
  const source::Node& node = program_->node(node_);
  return {cell(), node.stop, node.stop, std::move(text)};
}

namespace {

// A tensor is found again in a set, or behind a key, by its identity; a copy is not.
bool is_hashed(Expr value) {
  while (value.parent().is(Kind::tuple)) value = value.parent();
  const Expr above = value.parent();
  if (above.is(Kind::set)) return true;
  if (above.is(Kind::pair)) return above.first_child() == value;
  return above.is(Kind::subscript) && above.child(Field::object) != value;
}

}  // namespace

std::optional<Edit> Expr::detached() const {
  const Value what = value();
  if (what.type != ValueType::tensor || what.is_guessed || is_hashed(*this)) return std::nullopt;
  const bool binds_tightly =
      is(Kind::name) || is(Kind::attribute) || is(Kind::call) || is(Kind::subscript);
  if (binds_tightly) return followed_by(".detach()");
  return replaced_by("(" + std::string(text()) + ").detach()");
}

namespace {

/// A line of a cell, as it was written: in the text that is parsed comments are blank.
struct Line {
  std::size_t start = 0;
  std::string_view text;  ///< Without its end.

  std::string_view indentation() const {
    return text.substr(0, std::min(text.find_first_not_of(" \t"), text.size()));
  }
  bool is_comment() const {
    const std::size_t first = indentation().size();
    return first < text.size() && text[first] == '#' && !source::is_marker(text);
  }
};

Line line_at(std::string_view cell, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : cell.rfind('\n', at - 1);
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(cell.find('\n', at), cell.size());
  std::string_view text = cell.substr(start, end - start);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return {start, text};
}

std::string_view line_end(std::string_view cell) {
  return cell.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
}

// The first of the comments that stand right above a line and explain it.
std::size_t start_with_comments(std::string_view cell, const Line& line) {
  std::size_t start = line.start;
  while (start > 0) {
    const Line above = line_at(cell, start - 1);
    if (!above.is_comment() || above.indentation() != line.indentation()) break;
    start = above.start;
  }
  return start;
}

// Behind the comments that still belong to the block above: they are indented deeper.
std::size_t end_with_comments(std::string_view cell, std::size_t end, std::size_t indentation) {
  while (end < cell.size()) {
    const Line next = line_at(cell, cell[end] == '\r' ? end + 2 : end + 1);
    // A carriage return alone ends no line.
    if (next.start <= end) break;
    if (!next.is_comment() || next.indentation().size() <= indentation) break;
    end = next.start + next.text.size();
  }
  return end;
}

Edit inserted(const Expr& statement, std::size_t at, std::string text) {
  const auto position = static_cast<std::uint32_t>(at);
  return {statement.cell(), position, position, std::move(text)};
}

}  // namespace

std::optional<Edit> Expr::line_before(std::string_view code) const {
  const Expr statement = this->statement();
  if (!statement) return std::nullopt;
  const std::size_t start = program_->node(statement.node_).start;
  const std::string_view cell = program_->cells[program_->cell_of(statement.node_)].text;
  const Line line = line_at(cell, start);
  const std::string_view before = cell.substr(line.start, start - line.start);
  if (line.indentation() != before) return std::nullopt;
  const std::size_t at = start_with_comments(cell, line) + before.size();
  return inserted(statement, at,
                  std::string(code) + std::string(line_end(cell)) + std::string(before));
}

std::optional<Edit> Expr::decorated_by(std::string_view decorator) const {
  const auto edit = line_before(decorator);
  if (!edit) return std::nullopt;
  // It is part of the definition: comments stay above it.
  return inserted(statement(), program_->node(statement().node_).start, edit->text);
}

std::optional<Edit> Expr::line_after(std::string_view code) const {
  const Expr statement = this->statement();
  if (!statement) return std::nullopt;
  const source::Node& node = program_->node(statement.node_);
  const std::size_t index = program_->cell_of(statement.node_);
  const std::string_view cell = program_->cells[index].text;
  const Line first = line_at(cell, node.start);
  const std::string_view before = cell.substr(first.start, node.start - first.start);
  if (first.indentation() != before) return std::nullopt;
  const Line last = line_at(cell, node.stop);
  const std::size_t end = last.start + last.text.size();
  // Only a comment, which is blank here, may stand behind it.
  const std::string_view rest =
      std::string_view(program_->texts[index]).substr(node.stop, end - node.stop);
  if (rest.find_first_not_of(" \t\r") != std::string_view::npos) return std::nullopt;
  const std::size_t at = end_with_comments(cell, end, before.size());
  return inserted(statement, at,
                  std::string(line_end(cell)) + std::string(before) + std::string(code));
}

}  // namespace xleak::monitor
