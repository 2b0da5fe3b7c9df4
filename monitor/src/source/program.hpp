#pragma once
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "source/magics.hpp"
#include "source/names.hpp"
#include "source/scopes.hpp"
#include "source/syntax.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::source {

/// What is behind a SourceView: the trees of all cells, who is who in them, and indexes.
struct Program {
  explicit Program(std::vector<SourceCell> cells_of_program);

  std::vector<SourceCell> cells;
  std::vector<std::string> texts;  ///< Of the cells, with all but Python blanked.
  std::deque<std::string> parts;   ///< Of texts that the parser was given only a part of.
  std::vector<MagicLine> magics;
  std::vector<Remark> remarks;
  std::vector<Reading> readings;          ///< Of each cell.
  std::vector<std::uint32_t> first_node;  ///< Of each cell.
  // Scopes resolve names of imports on demand, which may be seen for the first time.
  mutable Names names;
  Syntax syntax;
  std::unique_ptr<Scopes> scopes;

  List<Call> calls;
  List<Loop> loops;
  List<Function> functions;
  List<Expr> classes;
  List<Expr> handlers;
  List<Expr> assignments;
  List<Expr> deletions;
  List<Function> backward_methods;  ///< Of its classes, by their name.
  bool calls_backward = false;      ///< Something in it may be a backward pass of torch.
  std::vector<Store> stores;
  std::vector<Update> updates;
  std::unordered_map<DottedId, List<Call>> calls_by_dotted;
  std::unordered_map<NameId, List<Call>> calls_by_method;
  std::unordered_map<std::uint32_t, List<Call>> calls_by_function;

  mutable std::unordered_map<std::uint32_t, Value> values;
  mutable std::unordered_map<PlaceId, bool> led_back;

  const Node& node(std::uint32_t id) const { return syntax.nodes[id]; }
  Expr at(std::uint32_t id) const { return {this, id}; }
  std::size_t cell_of(std::uint32_t id) const;
  /// The nearest node above of this kind, the node itself included; kNone for none.
  std::uint32_t above(std::uint32_t id, Kind kind) const;
  /// The function or lambda whose body or parameters it is in; kNone at the top level.
  std::uint32_t function_of(std::uint32_t id) const;
  bool is_derived(std::uint32_t class_node, std::initializer_list<std::string_view> dotted,
                  int depth) const;

 private:
  Reading read_cell(std::string_view text);
  void index();
};

/// Implemented in flow.cpp.
bool runs_in_loop(const Program& program, std::uint32_t node, int levels);
bool runs_under_no_grad(const Program& program, std::uint32_t node, int levels);
List<Loop> loops_around(const Program& program, std::uint32_t node);

/// Implemented in values.cpp.
Value value_of(const Program& program, std::uint32_t node);

/// Implemented in scalars.cpp: the call makes one number of a tensor, `x.mean()`.
bool is_reduction(const Call& call);

/// Which value the backward pass of a call begins at.
enum class Begins : std::uint8_t {
  no,  ///< None, or it cannot be known.
  at_receiver,
  at_argument,
  /// `y.backward(v)` of a tensor begins at y, `engine.backward(loss)` at the loss.
  at_argument_unless_tensor,
};

/// A method of tensors, of what runs the backward pass of a loss, or of Lightning's modules.
inline bool is_called_backward(std::string_view name) {
  return name == "backward" || name == "manual_backward";
}

/// Implemented in backward.cpp.
Begins backward_begins(const Program& program, const Call& call);

/// Implemented in stores.cpp.
std::vector<Store> find_stores(const Program& program);
bool is_bounded(const Program& program, const Store& store);

/// Implemented in updates.cpp.
std::vector<Update> find_updates(const Program& program);
bool reaches_backward(Place place);
bool may_reach_backward(Place place);

}  // namespace xleak::monitor::source
