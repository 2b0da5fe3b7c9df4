#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "source/names.hpp"
#include "xleak/monitor/syntax_kind.hpp"

struct TSLanguage;

namespace xleak::monitor::source {

/// One node. Children follow their parent: the subtree of node n is [n, end).
struct Node {
  Kind kind = Kind::other;
  Field field = Field::none;
  Operator op = Operator::none;
  std::uint32_t parent = kNone;
  std::uint32_t end = 0;
  std::uint32_t start = 0;  ///< Bytes from the start of the cell.
  std::uint32_t stop = 0;
  std::uint32_t line = 0;  ///< In the cell, from 1.
  NameId name = 0;      ///< The identifier of a name, attribute, keyword, function, class, alias.
  DottedId dotted = 0;  ///< What an alias imports.
};

/// The trees of a program's cells, one after the other in one array.
struct Syntax {
  std::vector<Node> nodes;

  std::uint32_t child(std::uint32_t parent, Field field) const;
  std::uint32_t first_child(std::uint32_t parent) const {
    return parent + 1 < nodes[parent].end ? parent + 1 : kNone;
  }
  std::uint32_t next_sibling(std::uint32_t node) const {
    const std::uint32_t parent = nodes[node].parent;
    const std::uint32_t next = nodes[node].end;
    return parent != kNone && next < nodes[parent].end ? next : kNone;
  }
};

/// Says which grammar parses Python; to be called once, before anything is parsed.
void set_grammar(const TSLanguage* language);
bool has_grammar();

/// Whether the grammar finds an error in it.
bool has_error(std::string_view text);

/// How far the grammar read a cell.
struct Reading {
  /// It has what the grammar does not know, or what Python 3 no longer does.
  bool is_doubtful = false;
  std::uint32_t cut_line = 0;  ///< From here on something is nested too deeply to have nodes; or 0.
};

/// Appends the tree of one cell. What cannot be parsed becomes nodes of kind `other`.
/// text: what `only_python` made; it must outlive the syntax.
Reading parse_cell(std::string_view text, Names& names, Syntax& syntax);

}  // namespace xleak::monitor::source
