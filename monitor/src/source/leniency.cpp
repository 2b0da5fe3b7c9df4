#include "source/leniency.hpp"

namespace xleak::monitor::source {
namespace {

// Where a statement begins in its line; kNone behind a `;` or a `:`.
std::uint32_t indentation(std::string_view text, std::uint32_t start) {
  std::uint32_t at = start;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' ? start - at : kNone;
}

bool is_misplaced(const Syntax& syntax, std::uint32_t statement, std::string_view text) {
  const std::uint32_t column = indentation(text, syntax.nodes[statement].start);
  const std::uint32_t parent = syntax.nodes[statement].parent;
  if (column == kNone) return false;
  if (syntax.nodes[parent].kind == Kind::cell) return column != 0;
  const std::uint32_t first = indentation(text, syntax.nodes[syntax.first_child(parent)].start);
  return first != kNone && first != column;
}

bool precedes_positional(const Syntax& syntax, std::uint32_t keyword) {
  const std::uint32_t next = syntax.next_sibling(keyword);
  return next != kNone && syntax.nodes[next].kind != Kind::keyword &&
         syntax.nodes[next].kind != Kind::starred && syntax.nodes[next].field == Field::argument;
}

}  // namespace

bool is_read_leniently(const Syntax& syntax, std::uint32_t first, std::string_view text) {
  for (std::uint32_t id = first + 1; id < syntax.nodes.size(); ++id) {
    const Node& node = syntax.nodes[id];
    if (node.kind == Kind::block && node.end == id + 1) return true;
    if (node.kind == Kind::keyword && precedes_positional(syntax, id)) return true;
    if (node.parent == kNone) continue;
    const Kind around = syntax.nodes[node.parent].kind;
    const bool is_statement = around == Kind::cell || around == Kind::block;
    if (is_statement && is_misplaced(syntax, id, text)) return true;
  }
  return false;
}

}  // namespace xleak::monitor::source
