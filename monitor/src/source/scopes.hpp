#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "source/syntax.hpp"

namespace xleak::monitor::source {

// Class hierarchies of notebooks are flat; a longer chain is a cycle.
constexpr int kDeepestHierarchy = 8;

using PlaceId = std::uint32_t;  ///< A variable, or an attribute of a place; kNone is none.

/// One spot where a place gets its value.
struct Binding {
  PlaceId place = kNone;
  Bound how = Bound::assign;
  std::uint32_t target = kNone;  ///< The name or attribute that is bound, or its definition.
  std::uint32_t value = kNone;   ///< What it gets, or what it is unpacked from.
  int position = -1;             ///< Which element of the value; -1 is the whole.
};

struct Scope {
  enum class Kind : std::uint8_t { module, function, class_body, comprehension };
  Kind kind = Kind::module;
  std::uint32_t parent = kNone;
  std::uint32_t node = kNone;
};

struct PlaceRecord {
  PlaceId owner = kNone;  ///< Whose attribute it is; kNone for a variable.
  NameId name = 0;
  std::uint32_t scope = 0;         ///< Of a variable.
  std::uint32_t of_class = kNone;  ///< It stands for the instances of this class.
  std::uint32_t first_binding = 0, binding_count = 0;
  std::uint32_t first_use = 0, use_count = 0;
};

/// Where the nodes of a cell begin, and the module that it is.
struct CellOfModule {
  std::uint32_t node;
  NameId module;  ///< 0 is the program itself.
  std::string_view package;
};

/// Who is who: the variables and attributes of a program, where they are bound and used.
/// The instances of a class are one place, whatever each method calls it.
class Scopes {
 public:
  Scopes(const Syntax& syntax, Names& names, const std::vector<CellOfModule>& cells);

  PlaceId place_of(std::uint32_t node) const { return place_of_[node]; }
  const PlaceRecord& place(PlaceId id) const { return places_[id]; }
  std::size_t place_count() const { return places_.size(); }
  const Scope& scope(std::uint32_t id) const { return scopes_[id]; }
  /// In the order of the code.
  const Binding* bindings(PlaceId id) const { return bindings_.data() + places_[id].first_binding; }
  /// Names and attributes that read it, in the order of the code.
  const std::uint32_t* uses(PlaceId id) const { return uses_.data() + places_[id].first_use; }

  /// What an import makes of it: torch.nn.Linear for `Linear` or `nn.Linear`; 0 is unknown.
  DottedId dotted(std::uint32_t node) const;
  /// The place of the instances of a class of the program; kNone for another node.
  PlaceId instances_of(std::uint32_t class_node) const;
  /// The attribute of a place, where the program mentions it.
  PlaceId attribute(PlaceId owner, NameId name) const;
  /// Classes of the program that this one names as its bases.
  std::vector<std::uint32_t> bases(std::uint32_t class_node) const;
  bool is_builtin(std::uint32_t node, std::string_view name) const;
  /// Some names come by `from library import *`.
  bool has_stars() const { return !stars_.empty(); }

 private:
  struct Reference {
    std::uint32_t node;
    std::uint32_t scope;
  };

  void open_modules(const std::vector<CellOfModule>& cells);
  void collect();
  PlaceId declare_import(std::uint32_t alias, std::uint32_t scope, std::string_view package);
  void declare_outer(std::uint32_t statement, std::uint32_t scope);
  void resolve();
  void resolve_bases();
  void resolve_objects();
  PlaceId constructed_by(std::uint32_t value) const;
  void resolve_attribute(std::uint32_t id);
  void bind();
  void add_binding(std::uint32_t node, PlaceId place);
  void sort_bindings();
  PlaceId declare(std::uint32_t scope, NameId name);
  PlaceId find(std::uint32_t scope, NameId name) const;
  PlaceId intern(PlaceId owner, NameId name);
  DottedId dotted_at(std::uint32_t node, int depth) const;
  DottedId dotted_of_place(PlaceId id, int depth) const;
  bool binds(std::uint32_t node) const;
  std::uint32_t outermost_target(std::uint32_t node) const;

  const Syntax& syntax_;
  Names& names_;
  std::vector<Scope> scopes_;
  std::vector<PlaceRecord> places_;
  std::vector<Binding> bindings_;
  std::vector<std::uint32_t> uses_;
  std::vector<PlaceId> place_of_;
  std::unordered_map<std::uint32_t, std::uint32_t> scope_of_cell_;       ///< By its first node.
  std::unordered_map<std::uint32_t, std::string_view> package_of_cell_;  ///< By its first node.
  std::unordered_map<std::string_view, std::uint32_t> modules_;          ///< Scope by name.
  std::unordered_map<PlaceId, std::uint32_t> module_of_;  ///< `helpers` of an import.
  std::vector<Reference> references_;
  std::vector<DottedId> stars_;
  std::unordered_map<std::uint64_t, PlaceId> variables_;
  std::unordered_map<std::uint64_t, PlaceId> attributes_;
  std::unordered_map<std::uint32_t, PlaceId> instances_;  ///< By class node.
  std::unordered_map<PlaceId, PlaceId> base_;             ///< Instances of the first base.
  std::unordered_map<PlaceId, PlaceId> stands_for_;       ///< `self` and the class's own name.
};

}  // namespace xleak::monitor::source
