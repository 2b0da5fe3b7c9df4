#include "source/syntax.hpp"

#include <tree_sitter/api.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "xleak/monitor/error.hpp"

namespace xleak::monitor::source {
namespace {

// Nobody reads code that is nested deeper; what is below has no node, so that no walk runs out of
// stack.
constexpr std::size_t kDeepestNesting = 1000;

// What becomes of a node of the grammar.
enum class Step : std::uint8_t { node, splice, skip, decorated, string, import };

struct Rule {
  Step step = Step::node;
  Kind kind = Kind::other;
  bool is_of_python2 = false;
};

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"module", {Step::node, Kind::cell}},
      {"block", {Step::node, Kind::block}},
      {"expression_statement", {Step::node, Kind::expression_statement}},
      {"assignment", {Step::node, Kind::assign}},
      {"augmented_assignment", {Step::node, Kind::augmented_assign}},
      {"for_statement", {Step::node, Kind::for_loop}},
      {"while_statement", {Step::node, Kind::while_loop}},
      {"if_statement", {Step::node, Kind::if_branch}},
      {"elif_clause", {Step::node, Kind::if_branch}},
      {"else_clause", {Step::node, Kind::else_branch}},
      {"with_statement", {Step::node, Kind::with_block}},
      {"with_clause", {Step::splice}},
      {"with_item", {Step::splice}},
      {"try_statement", {Step::node, Kind::try_block}},
      {"except_clause", {Step::node, Kind::except_branch}},
      {"except_group_clause", {Step::node, Kind::except_branch}},
      {"finally_clause", {Step::node, Kind::finally_branch}},
      {"function_definition", {Step::node, Kind::function}},
      {"class_definition", {Step::node, Kind::class_definition}},
      {"decorated_definition", {Step::decorated}},
      {"decorator", {Step::node, Kind::decorator}},
      {"parameters", {Step::node, Kind::parameters}},
      {"lambda_parameters", {Step::node, Kind::parameters}},
      {"default_parameter", {Step::node, Kind::parameter}},
      {"typed_parameter", {Step::node, Kind::parameter}},
      {"typed_default_parameter", {Step::node, Kind::parameter}},
      {"list_splat_pattern", {Step::node, Kind::starred}},
      {"dictionary_splat_pattern", {Step::node, Kind::starred}},
      {"list_splat", {Step::node, Kind::starred}},
      {"dictionary_splat", {Step::node, Kind::starred}},
      {"return_statement", {Step::node, Kind::return_statement}},
      {"raise_statement", {Step::node, Kind::raise_statement}},
      {"assert_statement", {Step::node, Kind::assert_statement}},
      {"delete_statement", {Step::node, Kind::delete_statement}},
      {"global_statement", {Step::node, Kind::global_statement}},
      {"nonlocal_statement", {Step::node, Kind::global_statement}},
      {"import_statement", {Step::import}},
      {"import_from_statement", {Step::import}},
      {"future_import_statement", {Step::skip}},
      {"pass_statement", {Step::node, Kind::pass_statement}},
      {"break_statement", {Step::node, Kind::break_statement}},
      {"continue_statement", {Step::node, Kind::continue_statement}},
      {"identifier", {Step::node, Kind::name}},
      {"attribute", {Step::node, Kind::attribute}},
      {"call", {Step::node, Kind::call}},
      {"argument_list", {Step::splice}},
      {"keyword_argument", {Step::node, Kind::keyword}},
      {"subscript", {Step::node, Kind::subscript}},
      {"slice", {Step::node, Kind::slice}},
      {"integer", {Step::node, Kind::integer}},
      {"float", {Step::node, Kind::floating}},
      {"string", {Step::string, Kind::string}},
      {"concatenated_string", {Step::node, Kind::string}},
      {"interpolation", {Step::splice}},
      {"format_specifier", {Step::splice}},
      {"format_expression", {Step::splice}},
      {"true", {Step::node, Kind::true_literal}},
      {"false", {Step::node, Kind::false_literal}},
      {"none", {Step::node, Kind::none}},
      {"ellipsis", {Step::node, Kind::ellipsis}},
      {"list", {Step::node, Kind::list}},
      {"list_pattern", {Step::node, Kind::list}},
      {"tuple", {Step::node, Kind::tuple}},
      {"expression_list", {Step::node, Kind::tuple}},
      {"pattern_list", {Step::node, Kind::tuple}},
      {"tuple_pattern", {Step::node, Kind::tuple}},
      {"dictionary", {Step::node, Kind::dict}},
      {"pair", {Step::node, Kind::pair}},
      {"set", {Step::node, Kind::set}},
      {"list_comprehension", {Step::node, Kind::comprehension}},
      {"set_comprehension", {Step::node, Kind::comprehension}},
      {"dictionary_comprehension", {Step::node, Kind::comprehension}},
      {"generator_expression", {Step::node, Kind::comprehension}},
      {"for_in_clause", {Step::node, Kind::comprehension_for}},
      {"if_clause", {Step::node, Kind::comprehension_if}},
      {"lambda", {Step::node, Kind::lambda}},
      {"binary_operator", {Step::node, Kind::binary}},
      {"boolean_operator", {Step::node, Kind::boolean}},
      {"unary_operator", {Step::node, Kind::unary}},
      {"not_operator", {Step::node, Kind::negation}},
      {"comparison_operator", {Step::node, Kind::comparison}},
      {"conditional_expression", {Step::node, Kind::conditional}},
      {"await", {Step::node, Kind::await}},
      {"yield", {Step::node, Kind::yield}},
      {"named_expression", {Step::node, Kind::named_expression}},
      {"parenthesized_expression", {Step::splice}},
      {"as_pattern", {Step::node, Kind::as_pattern}},
      {"as_pattern_target", {Step::node, Kind::as_target}},
      {"type", {Step::skip}},
      {"type_alias_statement", {Step::skip}},
      {"comment", {Step::skip}},
      {"line_continuation", {Step::skip}},
      {"string_start", {Step::skip}},
      {"string_content", {Step::skip}},
      {"string_end", {Step::skip}},
  };
  return table;
}

Field field_named(std::string_view name) {
  static const std::unordered_map<std::string_view, Field> table = {
      {"left", Field::left},
      {"right", Field::right},
      {"value", Field::right},
      {"body", Field::body},
      {"consequence", Field::body},
      {"condition", Field::condition},
      {"alternative", Field::alternative},
      {"object", Field::object},
      {"function", Field::callee},
      {"parameters", Field::parameters},
      {"subscript", Field::argument},
      {"superclasses", Field::argument},
      {"arguments", Field::argument},
  };
  const auto at = table.find(name);
  return at == table.end() ? Field::none : at->second;
}

/// The grammar's numbers, looked up once.
struct Grammar {
  explicit Grammar(const TSLanguage* of) : language(of) {
    const std::uint32_t symbols = ts_language_symbol_count(of);
    steps.resize(symbols, Rule{Step::skip});
    for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
      const auto id = static_cast<TSSymbol>(symbol);
      const std::string_view name = ts_language_symbol_name(of, id);
      if (ts_language_symbol_type(of, id) == TSSymbolTypeRegular) {
        const auto rule = rules().find(name);
        steps[symbol] = rule == rules().end() ? Rule{} : rule->second;
      }
      // The grammar reads Python 2 as well.
      steps[symbol].is_of_python2 =
          name == "print_statement" || name == "exec_statement" || name == "<>";
      if (name == ",") comma = id;
    }
    fields.resize(ts_language_field_count(of) + 1, Field::none);
    for (std::uint32_t field = 1; field < fields.size(); ++field) {
      const char* name = ts_language_field_name_for_id(of, static_cast<TSFieldId>(field));
      if (name != nullptr) fields[field] = field_named(name);
    }
    for (const char* name : {"name", "attribute", "alias"}) {
      (name[0] == 'n'   ? name_field
       : name[1] == 't' ? attribute_field
                        : alias_field) =
          ts_language_field_id_for_name(of, name,
                                        static_cast<std::uint32_t>(std::string_view(name).size()));
    }
    operator_field = ts_language_field_id_for_name(of, "operator", 8);
    module_field = ts_language_field_id_for_name(of, "module_name", 11);
    type_field = ts_language_field_id_for_name(of, "return_type", 11);
  }

  const TSLanguage* language;
  std::vector<Rule> steps;
  std::vector<Field> fields;
  TSFieldId name_field = 0, attribute_field = 0, alias_field = 0;
  TSFieldId operator_field = 0, module_field = 0, type_field = 0;
  TSSymbol comma = 0;
};

std::atomic<const Grammar*> the_grammar{nullptr};

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};

TSParser* parser_of_thread(const Grammar& grammar) {
  thread_local std::unique_ptr<TSParser, ParserDeleter> parser;
  if (parser == nullptr) {
    parser.reset(ts_parser_new());
    if (!ts_parser_set_language(parser.get(), grammar.language)) {
      parser.reset();
      throw Error(
          "the grammar of tree-sitter-python does not fit the tree-sitter that xleak was "
          "built with, so no source is read. Install tree-sitter-python==0.23.6.");
    }
  }
  return parser.get();
}

Operator operator_named(std::string_view text) {
  if (text == "+" || text == "+=") return Operator::add;
  if (text == "-" || text == "-=") return Operator::subtract;
  if (text == "*" || text == "*=") return Operator::multiply;
  if (text == "/" || text == "/=") return Operator::divide;
  if (text == "%" || text == "%=") return Operator::modulo;
  if (text == "@" || text == "@=") return Operator::matmul;
  return Operator::other;
}

/// Walks one tree of tree-sitter and writes ours.
class Builder {
 public:
  Builder(const Grammar& grammar, std::string_view text, Names& names, Syntax& syntax)
      : grammar_(grammar), text_(text), names_(names), syntax_(syntax) {}

  Reading build(TSNode root) {
    reading_.is_doubtful = ts_node_has_error(root);
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    walk(cursor);
    ts_tree_cursor_delete(&cursor);
    return reading_;
  }

 private:
  // One level of the grammar's tree that the cursor is in.
  struct Level {
    std::uint32_t node;       ///< Ours that gets the children, kNone before the first.
    bool opened;              ///< It ends where this level ends.
    Field field;              ///< Of children that have none of their own.
    bool definition_follows;  ///< The next function or class is this very node.
  };

  void walk(TSTreeCursor& cursor) {
    levels_.clear();
    levels_.push_back({kNone, false, Field::none, false});
    while (true) {
      const bool goes_on = enter(cursor);
      if (goes_on && levels_.size() >= kDeepestNesting) {
        cut(ts_tree_cursor_current_node(&cursor));
      } else if (goes_on && ts_tree_cursor_goto_first_child(&cursor)) {
        continue;
      }
      if (pending_) leave();
      while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
        if (!ts_tree_cursor_goto_parent(&cursor)) return;
        leave();
      }
    }
  }

  void cut(TSNode node) {
    if (reading_.cut_line == 0 && ts_node_child_count(node) != 0) reading_.cut_line = line_of(node);
  }

  // `except A, b:` named the error once.
  bool is_of_python2(TSSymbol symbol, Rule rule, const Level& above) const {
    return rule.is_of_python2 || (symbol == grammar_.comma && above.node != kNone &&
                                  syntax_.nodes[above.node].kind == Kind::except_branch);
  }

  // True: go on with its children; a level was pushed. False: nothing was, unless pending_.
  bool enter(TSTreeCursor& cursor) {
    pending_ = false;
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const TSSymbol symbol = ts_node_symbol(node);
    const Rule rule = symbol < grammar_.steps.size() ? grammar_.steps[symbol] : Rule{};
    const TSFieldId field_id = ts_tree_cursor_current_field_id(&cursor);
    Level& above = levels_.back();
    reading_.is_doubtful |= is_of_python2(symbol, rule, above);
    if (field_id != 0 && take_field(node, field_id, above)) return false;
    Field field = field_id < grammar_.fields.size() ? grammar_.fields[field_id] : Field::none;
    if (field == Field::none) field = above.field;
    if (field == Field::right && above.node != kNone) field = value_field(above.node);

    switch (rule.step) {
      case Step::skip:
        return false;
      case Step::import:
        import(node);
        return false;
      case Step::splice:
        push({above.node, false, field, false});
        return true;
      case Step::decorated:
        push({open(node, definition_kind(node), field), true, Field::decorator, true});
        return true;
      case Step::string:
        push({open(node, string_kind(node), field), true, Field::argument, false});
        return true;
      case Step::node:
        break;
    }
    if (above.definition_follows &&
        (rule.kind == Kind::function || rule.kind == Kind::class_definition)) {
      // Our node was opened at the first decorator.
      syntax_.nodes[above.node].line = line_of(node);
      push({above.node, false, Field::none, false});
      return true;
    }
    // The grammar does not say so of these two.
    if (rule.kind == Kind::block && above.node != kNone) {
      const Kind owner = syntax_.nodes[above.node].kind;
      const bool unsaid = owner == Kind::except_branch || owner == Kind::finally_branch;
      if (unsaid) field = Field::body;
    }
    const std::uint32_t ours = open(node, rule.kind, field);
    if (rule.kind == Kind::name) {
      syntax_.nodes[ours].name = names_.identifier(text_of(node));
      if (above.node != kNone) name_parameter(above.node, ours);
    }
    push({ours, true, field_of_children(rule.kind), false});
    return true;
  }

  // Names and operators are part of their node; a type is left out.
  bool take_field(TSNode node, TSFieldId field, const Level& above) {
    if (above.node == kNone) return false;
    Node& owner = syntax_.nodes[above.node];
    if (field == grammar_.operator_field) {
      owner.op = operator_named(text_of(node));
      return true;
    }
    if (field == grammar_.type_field) return true;
    const bool names_it = (field == grammar_.attribute_field && owner.kind == Kind::attribute) ||
                          (field == grammar_.name_field &&
                           (owner.kind == Kind::function || owner.kind == Kind::class_definition ||
                            owner.kind == Kind::keyword || owner.kind == Kind::parameter));
    if (names_it) owner.name = names_.identifier(text_of(node));
    return names_it;
  }

  // A typed parameter keeps its name as a child: `x: int`, `*xs: int`.
  void name_parameter(std::uint32_t above, std::uint32_t ours) {
    Node& owner = syntax_.nodes[above];
    const bool unnamed = owner.name == 0;
    if (unnamed && owner.kind == Kind::parameter) owner.name = syntax_.nodes[ours].name;
  }

  // The grammar calls several things a value.
  Field value_field(std::uint32_t owner) const {
    switch (syntax_.nodes[owner].kind) {
      case Kind::with_block:
      case Kind::except_branch:
        return Field::item;
      case Kind::subscript:
        return Field::object;
      default:
        return Field::right;
    }
  }

  static Field field_of_children(Kind kind) {
    switch (kind) {
      case Kind::with_block:
      case Kind::except_branch:
        return Field::item;
      case Kind::named_expression:
        return Field::left;
      default:
        return Field::none;
    }
  }

  Kind definition_kind(TSNode node) const {
    const std::uint32_t count = ts_node_named_child_count(node);
    for (std::uint32_t i = count; i-- > 0;) {
      const TSSymbol symbol = ts_node_symbol(ts_node_named_child(node, i));
      if (symbol >= grammar_.steps.size()) continue;
      const Kind kind = grammar_.steps[symbol].kind;
      if (kind == Kind::function || kind == Kind::class_definition) return kind;
    }
    return Kind::other;
  }

  Kind string_kind(TSNode node) const {
    for (const char c : text_of(node)) {
      if (c == '"' || c == '\'') break;
      if (c == 'f' || c == 'F') return Kind::format_string;
    }
    return Kind::string;
  }

  // What is imported relatively is of no library: a dot for each that it is written with.
  DottedId dotted(DottedId parent, TSNode name) {
    const std::string_view text = text_of(name);
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t dot = std::min(text.find('.', at), text.size());
      std::string_view part = text.substr(at, dot - at);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      if (!part.empty() || dot < text.size())
        parent = names_.dotted(parent, names_.identifier(part.empty() ? "." : part));
      at = dot + 1;
    }
    return parent;
  }

  void import(TSNode node) {
    const std::uint32_t statement = open(node, Kind::import_statement, Field::none);
    const TSNode module = ts_node_child_by_field_id(node, grammar_.module_field);
    const DottedId from = ts_node_is_null(module) ? 0 : dotted(0, module);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
      const TSNode part = ts_tree_cursor_current_node(&cursor);
      if (std::string_view(ts_node_type(part)) == "wildcard_import") {
        alias(part, names_.identifier("*"), from, statement);
      }
      if (ts_tree_cursor_current_field_id(&cursor) != grammar_.name_field) continue;
      imported(part, from, statement);
    }
    ts_tree_cursor_delete(&cursor);
    syntax_.nodes[statement].end = size();
  }

  void imported(TSNode part, DottedId from, std::uint32_t statement) {
    const TSNode as = ts_node_child_by_field_id(part, grammar_.alias_field);
    if (!ts_node_is_null(as)) {
      const TSNode name = ts_node_child_by_field_id(part, grammar_.name_field);
      return alias(part, names_.identifier(text_of(as)), dotted(from, name), statement);
    }
    const std::string_view text = text_of(part);
    const std::string_view first = text.substr(0, text.find_first_of(". "));
    const NameId bound = names_.identifier(first);
    // `import a.b` binds a, and makes a.b known.
    const DottedId whole = dotted(from, part);
    alias(part, bound, from == 0 ? names_.dotted(0, bound) : whole, statement);
  }

  void alias(TSNode node, NameId name, DottedId what, std::uint32_t statement) {
    const std::uint32_t ours = add(node, Kind::alias, Field::none, statement);
    syntax_.nodes[ours].name = name;
    syntax_.nodes[ours].dotted = what;
    syntax_.nodes[ours].end = size();
  }

  std::uint32_t open(TSNode node, Kind kind, Field field) {
    return add(node, kind, field, levels_.back().node);
  }

  std::uint32_t add(TSNode node, Kind kind, Field field, std::uint32_t parent) {
    Node ours;
    ours.kind = kind;
    ours.field = field;
    ours.parent = parent;
    ours.start = ts_node_start_byte(node);
    ours.stop = ts_node_end_byte(node);
    ours.line = line_of(node);
    ours.end = size() + 1;
    syntax_.nodes.push_back(ours);
    return size() - 1;
  }

  void push(Level level) {
    levels_.push_back(level);
    pending_ = true;
  }

  void leave() {
    if (levels_.back().opened) syntax_.nodes[levels_.back().node].end = size();
    levels_.pop_back();
    pending_ = false;
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(syntax_.nodes.size()); }
  std::uint32_t line_of(TSNode node) const { return ts_node_start_point(node).row + 1; }
  std::string_view text_of(TSNode node) const {
    const std::uint32_t start = ts_node_start_byte(node);
    return text_.substr(start, ts_node_end_byte(node) - start);
  }

  const Grammar& grammar_;
  std::string_view text_;
  Names& names_;
  Syntax& syntax_;
  std::vector<Level> levels_;
  bool pending_ = false;  ///< A level was pushed for a node that may have no children.
  Reading reading_;
};

}  // namespace

std::uint32_t Syntax::child(std::uint32_t parent, Field field) const {
  for (std::uint32_t node = first_child(parent); node != kNone; node = next_sibling(node)) {
    if (nodes[node].field == field) return node;
  }
  return kNone;
}

void set_grammar(const TSLanguage* language) {
  // Parsers of other threads may still read the one that was there.
  if (!has_grammar()) the_grammar = new Grammar(language);
}

bool has_grammar() { return the_grammar != nullptr; }

namespace {

std::unique_ptr<TSTree, TreeDeleter> parsed(const Grammar& grammar, std::string_view text) {
  return std::unique_ptr<TSTree, TreeDeleter>(ts_parser_parse_string(
      parser_of_thread(grammar), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
}

const Grammar& given_grammar() {
  const Grammar* grammar = the_grammar;
  if (grammar == nullptr) {
    throw Error("no grammar was given, so no source is read. Install tree-sitter-python==0.23.6.");
  }
  return *grammar;
}

}  // namespace

bool has_error(std::string_view text) {
  return ts_node_has_error(ts_tree_root_node(parsed(given_grammar(), text).get()));
}

Reading parse_cell(std::string_view text, Names& names, Syntax& syntax) {
  const Grammar& grammar = given_grammar();
  const auto tree = parsed(grammar, text);
  return Builder(grammar, text, names, syntax).build(ts_tree_root_node(tree.get()));
}

}  // namespace xleak::monitor::source
