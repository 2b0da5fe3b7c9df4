#include "source/scopes.hpp"

#include <algorithm>
#include <array>

#include "source/imports.hpp"

namespace xleak::monitor::source {
namespace {

// How often one name may stand for another before the reader would lose track too.
constexpr int kAliasDepth = 4;

constexpr std::uint64_t key(std::uint32_t owner, NameId name) {
  return (static_cast<std::uint64_t>(owner) << 32) | name;
}

bool is_unpacking(Kind kind) {
  return kind == Kind::tuple || kind == Kind::list || kind == Kind::starred ||
         kind == Kind::as_target;
}

constexpr std::array<std::string_view, 44> kBuiltins = {
    "abs",    "all",        "any",    "bool",       "breakpoint", "bytes",   "callable",
    "dict",   "enumerate",  "filter", "float",      "getattr",    "globals", "hasattr",
    "id",     "input",      "int",    "isinstance", "iter",       "len",     "list",
    "locals", "map",        "max",    "min",        "next",       "object",  "open",
    "print",  "range",      "repr",   "reversed",   "round",      "set",     "setattr",
    "sorted", "str",        "sum",    "super",      "tuple",      "type",    "vars",
    "zip",    "MemoryError"};

}  // namespace

Scopes::Scopes(const Syntax& syntax, Names& names, const std::vector<CellOfModule>& cells)
    : syntax_(syntax), names_(names) {
  place_of_.assign(syntax.nodes.size(), kNone);
  scopes_.push_back({});
  open_modules(cells);
  collect();
  resolve();
  bind();
  sort_bindings();
}

void Scopes::open_modules(const std::vector<CellOfModule>& cells) {
  for (const auto& [node, module, package] : cells) {
    std::uint32_t scope = 0;
    if (module != 0) {
      scope = static_cast<std::uint32_t>(scopes_.size());
      scopes_.push_back({Scope::Kind::module, kNone, node});
      modules_.emplace(names_.text(module), scope);
    }
    scope_of_cell_.emplace(node, scope);
    package_of_cell_.emplace(node, package);
  }
  // A module is an attribute of its package.
  for (const auto& [path, scope] : modules_) {
    const std::size_t dot = path.rfind('.');
    const auto package = modules_.find(path.substr(0, dot));
    if (dot == std::string_view::npos || package == modules_.end()) continue;
    const NameId name = names_.identifier(path.substr(dot + 1));
    module_of_[declare(package->second, name)] = scope;
  }
}

// What comes from a file beside the notebook is that file's own variable.
PlaceId Scopes::declare_import(std::uint32_t alias, std::uint32_t scope, std::string_view package) {
  const Node& node = syntax_.nodes[alias];
  const std::string path = absolute_import(names_.dotted_text(node.dotted), package);
  const auto whole = modules_.find(path);
  if (whole != modules_.end() && whole->second != scope) {
    const PlaceId place = declare(scope, node.name);
    module_of_[place] = whole->second;
    return place;
  }
  const std::size_t dot = path.rfind('.');
  const auto module = dot == std::string::npos
                          ? modules_.end()
                          : modules_.find(std::string_view(path).substr(0, dot));
  if (module == modules_.end() || module->second == scope) return declare(scope, node.name);
  const NameId imported = names_.known(std::string_view(path).substr(dot + 1));
  if (imported != 0) variables_[key(scope, node.name)] = declare(module->second, imported);
  return kNone;
}

void Scopes::collect() {
  // Comprehensions and bodies end where their node ends; the innermost is last.
  struct Open {
    std::uint32_t scope, end;
  };
  std::vector<Open> open = {{0, kNone}};
  std::unordered_map<std::uint32_t, std::uint32_t> scope_of;
  const auto count = static_cast<std::uint32_t>(syntax_.nodes.size());
  std::string_view package;
  for (std::uint32_t id = 0; id < count; ++id) {
    while (open.back().end <= id) open.pop_back();
    const Node& node = syntax_.nodes[id];
    if (node.kind == Kind::cell) {
      open.front().scope = scope_of_cell_[id];
      package = package_of_cell_[id];
    }
    const bool of_definition = node.field == Field::parameters || node.field == Field::body;
    if (of_definition) {
      const Kind parent = syntax_.nodes[node.parent].kind;
      if (parent == Kind::function || parent == Kind::lambda || parent == Kind::class_definition) {
        auto [at, is_new] = scope_of.try_emplace(node.parent, 0);
        if (is_new) {
          at->second = static_cast<std::uint32_t>(scopes_.size());
          const auto kind =
              parent == Kind::class_definition ? Scope::Kind::class_body : Scope::Kind::function;
          scopes_.push_back({kind, open.back().scope, node.parent});
          open.push_back({at->second, syntax_.nodes[node.parent].end});
        }
      }
    }
    const std::uint32_t scope = open.back().scope;
    switch (node.kind) {
      case Kind::comprehension:
        scopes_.push_back({Scope::Kind::comprehension, scope, id});
        open.push_back({static_cast<std::uint32_t>(scopes_.size() - 1), node.end});
        break;
      case Kind::global_statement:
        declare_outer(id, scope);
        break;
      case Kind::alias:
        if (names_.text(node.name) == "*") {
          stars_.push_back(node.dotted);
        } else {
          place_of_[id] = declare_import(id, scope, package);
        }
        break;
      case Kind::function:
        place_of_[id] = declare(scope, node.name);
        break;
      case Kind::class_definition: {
        place_of_[id] = declare(scope, node.name);
        const auto instances = static_cast<PlaceId>(places_.size());
        PlaceRecord place;
        place.name = node.name;
        place.of_class = id;
        places_.push_back(place);
        instances_.emplace(id, instances);
        break;
      }
      case Kind::parameter:
        place_of_[id] = declare(scope, node.name);
        break;
      case Kind::name:
        references_.push_back({id, scope});
        if (binds(id)) declare(scope, node.name);
        break;
      default:
        break;
    }
  }
}

void Scopes::declare_outer(std::uint32_t statement, std::uint32_t scope) {
  for (auto child = syntax_.first_child(statement); child != kNone;
       child = syntax_.next_sibling(child)) {
    const NameId name = syntax_.nodes[child].name;
    const PlaceId outer =
        scopes_[scope].parent == kNone ? kNone : find(scopes_[scope].parent, name);
    variables_[key(scope, name)] = outer != kNone ? outer : declare(0, name);
  }
}

PlaceId Scopes::declare(std::uint32_t scope, NameId name) {
  if (scopes_[scope].kind == Scope::Kind::class_body) {
    const auto instances = instances_.find(scopes_[scope].node);
    if (instances != instances_.end()) return intern(instances->second, name);
  }
  const auto [at, is_new] =
      variables_.try_emplace(key(scope, name), static_cast<PlaceId>(places_.size()));
  if (is_new) {
    PlaceRecord place;
    place.name = name;
    place.scope = scope;
    places_.push_back(place);
  }
  return at->second;
}

PlaceId Scopes::intern(PlaceId owner, NameId name) {
  const auto [at, is_new] =
      attributes_.try_emplace(key(owner, name), static_cast<PlaceId>(places_.size()));
  if (is_new) {
    PlaceRecord place;
    place.owner = owner;
    place.name = name;
    place.scope = places_[owner].scope;
    places_.push_back(place);
  }
  return at->second;
}

PlaceId Scopes::attribute(PlaceId owner, NameId name) const {
  const auto at = attributes_.find(key(owner, name));
  return at == attributes_.end() ? kNone : at->second;
}

PlaceId Scopes::find(std::uint32_t scope, NameId name) const {
  bool innermost = true;
  for (std::uint32_t at = scope; at != kNone; at = scopes_[at].parent, innermost = false) {
    if (scopes_[at].kind == Scope::Kind::class_body) {
      // Methods do not see the names of their class.
      const auto instances = instances_.find(scopes_[at].node);
      if (!innermost || instances == instances_.end()) continue;
      const PlaceId found = attribute(instances->second, name);
      if (found != kNone) return found;
      continue;
    }
    const auto found = variables_.find(key(at, name));
    if (found != variables_.end()) return found->second;
  }
  return kNone;
}

bool Scopes::binds(std::uint32_t node) const {
  const std::uint32_t target = outermost_target(node);
  const Node& at = syntax_.nodes[target];
  if (at.parent == kNone) return false;
  switch (syntax_.nodes[at.parent].kind) {
    case Kind::assign:
    case Kind::augmented_assign:
    case Kind::for_loop:
    case Kind::comprehension_for:
    case Kind::named_expression:
      return at.field == Field::left;
    case Kind::as_pattern:
      return at.kind == Kind::as_target;
    case Kind::parameters:
      return true;
    case Kind::parameter:
      return at.field != Field::right;
    case Kind::delete_statement:
      return true;
    default:
      return false;
  }
}

// Climbs from `a` in `(a, *b), c = …` to the whole left side.
std::uint32_t Scopes::outermost_target(std::uint32_t node) const {
  std::uint32_t parent = syntax_.nodes[node].parent;
  while (parent != kNone && is_unpacking(syntax_.nodes[parent].kind)) {
    node = parent;
    parent = syntax_.nodes[node].parent;
  }
  return node;
}

void Scopes::resolve() {
  // The first parameter of a method is the instance, whatever its name.
  for (const auto& [class_node, instances] : instances_) {
    stands_for_[place_of_[class_node]] = instances;
  }
  for (std::uint32_t scope = 0; scope < scopes_.size(); ++scope) {
    const Scope& function = scopes_[scope];
    if (function.kind != Scope::Kind::function) continue;
    if (scopes_[function.parent].kind != Scope::Kind::class_body) continue;
    const std::uint32_t parameters = syntax_.child(function.node, Field::parameters);
    const std::uint32_t first = parameters == kNone ? kNone : syntax_.first_child(parameters);
    if (first == kNone || syntax_.nodes[first].kind != Kind::name) continue;
    bool is_static = false;
    for (auto child = syntax_.first_child(function.node); child != kNone;
         child = syntax_.next_sibling(child)) {
      if (syntax_.nodes[child].kind != Kind::decorator) continue;
      const std::uint32_t what = syntax_.first_child(child);
      is_static |= what != kNone && names_.text(syntax_.nodes[what].name) == "staticmethod";
    }
    if (is_static) continue;
    const PlaceId self = find(scope, syntax_.nodes[first].name);
    const auto instances = instances_.find(scopes_[function.parent].node);
    if (self != kNone && instances != instances_.end()) stands_for_[self] = instances->second;
  }
  for (const Reference& reference : references_) {
    place_of_[reference.node] = find(reference.scope, syntax_.nodes[reference.node].name);
  }
  resolve_bases();
  resolve_objects();
  // What a class itself binds hides what its bases have, so that comes first.
  const auto count = static_cast<std::uint32_t>(syntax_.nodes.size());
  for (std::uint32_t id = 0; id < count; ++id) {
    if (syntax_.nodes[id].kind == Kind::attribute && binds(id)) resolve_attribute(id);
  }
  // Children follow their parent: from the end, the owner of an attribute is known before it.
  for (std::uint32_t id = count; id-- > 0;) {
    if (syntax_.nodes[id].kind == Kind::attribute) resolve_attribute(id);
  }
}

void Scopes::resolve_bases() {
  std::unordered_map<PlaceId, PlaceId> instances_of_name;
  for (const auto& [class_node, instances] : instances_) {
    instances_of_name.emplace(place_of_[class_node], instances);
  }
  for (const auto& [class_node, instances] : instances_) {
    for (auto child = syntax_.first_child(class_node); child != kNone;
         child = syntax_.next_sibling(child)) {
      if (syntax_.nodes[child].field != Field::argument || place_of_[child] == kNone) continue;
      const auto base = instances_of_name.find(place_of_[child]);
      if (base != instances_of_name.end() && base->second != instances) {
        base_.emplace(instances, base->second);
      }
    }
  }
}

// The class whose constructor a value comes from: `Net(4).to(device)`; kNone for anything else.
PlaceId Scopes::constructed_by(std::uint32_t value) const {
  while (value != kNone && syntax_.nodes[value].kind == Kind::call) {
    const std::uint32_t callee = syntax_.child(value, Field::callee);
    if (callee == kNone) return kNone;
    if (syntax_.nodes[callee].kind == Kind::name) return place_of_[callee];
    if (syntax_.nodes[callee].kind != Kind::attribute) return kNone;
    const std::string_view method = names_.text(syntax_.nodes[callee].name);
    if (method != "to" && method != "cuda" && method != "eval" && method != "train") return kNone;
    value = syntax_.child(callee, Field::object);
  }
  return kNone;
}

// `net = Net()`: the attributes of `net` are those of the instances of its class.
void Scopes::resolve_objects() {
  std::unordered_map<PlaceId, PlaceId> instances_of_name;
  for (const auto& [class_node, instances] : instances_) {
    instances_of_name.emplace(place_of_[class_node], instances);
  }
  std::unordered_map<PlaceId, PlaceId> objects;
  const auto bind = [&](std::uint32_t left, std::uint32_t right) {
    if (syntax_.nodes[left].kind != Kind::name || place_of_[left] == kNone) return;
    const auto made = instances_of_name.find(constructed_by(right));
    const PlaceId instances = made == instances_of_name.end() ? kNone : made->second;
    const auto [object, is_new] = objects.emplace(place_of_[left], instances);
    // What is bound to several things stands for none of them.
    if (!is_new && object->second != instances) object->second = kNone;
  };
  for (const Node& statement : syntax_.nodes) {
    if (statement.kind != Kind::assign || instances_of_name.empty()) continue;
    const auto id = static_cast<std::uint32_t>(&statement - syntax_.nodes.data());
    const std::uint32_t left = syntax_.child(id, Field::left);
    const std::uint32_t right = syntax_.child(id, Field::right);
    if (left == kNone) continue;
    bind(left, right);
    if (syntax_.nodes[left].kind != Kind::tuple || right == kNone ||
        syntax_.nodes[right].kind != Kind::tuple) {
      continue;
    }
    // `a, b = A(), B()` is two assignments.
    auto value = syntax_.first_child(right);
    for (auto target = syntax_.first_child(left); target != kNone && value != kNone;
         target = syntax_.next_sibling(target), value = syntax_.next_sibling(value)) {
      if (syntax_.nodes[target].kind == Kind::starred) break;
      bind(target, value);
    }
  }
  for (const auto& [object, instances] : objects) {
    if (instances != kNone) stands_for_.emplace(object, instances);
  }
}

void Scopes::resolve_attribute(std::uint32_t id) {
  const std::uint32_t object = syntax_.child(id, Field::object);
  PlaceId owner = object == kNone ? kNone : place_of_[object];
  if (owner == kNone) return;
  const NameId name = syntax_.nodes[id].name;
  const auto module = module_of_.find(owner);
  if (module != module_of_.end()) {
    place_of_[id] = find(module->second, name);
    return;
  }
  const auto meant = stands_for_.find(owner);
  if (meant != stands_for_.end()) owner = meant->second;
  PlaceId from = owner;
  for (int step = 0; step < kDeepestHierarchy && attribute(from, name) == kNone; ++step) {
    const auto base = base_.find(from);
    if (base == base_.end()) break;
    from = base->second;
  }
  place_of_[id] = intern(attribute(from, name) == kNone ? owner : from, name);
}

void Scopes::bind() {
  const auto count = static_cast<std::uint32_t>(syntax_.nodes.size());
  for (std::uint32_t id = 0; id < count; ++id) {
    const PlaceId place = place_of_[id];
    if (place == kNone) continue;
    switch (syntax_.nodes[id].kind) {
      case Kind::alias:
        bindings_.push_back({place, Bound::import, id, id, -1});
        break;
      case Kind::function:
        bindings_.push_back({place, Bound::function, id, id, -1});
        break;
      case Kind::class_definition:
        bindings_.push_back({place, Bound::class_definition, id, id, -1});
        break;
      case Kind::parameter:
        bindings_.push_back({place, Bound::parameter, id, syntax_.child(id, Field::right), -1});
        break;
      default:
        if (binds(id)) {
          add_binding(id, place);
        } else {
          ++places_[place].use_count;
        }
    }
  }
}

void Scopes::add_binding(std::uint32_t node, PlaceId place) {
  const std::uint32_t target = outermost_target(node);
  const std::uint32_t statement = syntax_.nodes[target].parent;
  int position = -1;
  if (target != node && syntax_.nodes[target].kind != Kind::as_target) {
    // The place in the outermost unpacking; deeper ones are unpacked from the same value.
    std::uint32_t element = node;
    while (syntax_.nodes[element].parent != target) element = syntax_.nodes[element].parent;
    position = 0;
    for (auto at = syntax_.first_child(target); at != element; at = syntax_.next_sibling(at)) {
      ++position;
    }
  }
  Binding binding{place, Bound::assign, node, syntax_.child(statement, Field::right), position};
  switch (syntax_.nodes[statement].kind) {
    case Kind::augmented_assign:
      binding.how = Bound::augmented;
      break;
    case Kind::for_loop:
    case Kind::comprehension_for:
      binding.how = Bound::loop;
      break;
    case Kind::as_pattern: {
      const std::uint32_t owner = syntax_.nodes[statement].parent;
      const bool handler = syntax_.nodes[owner].kind == Kind::except_branch;
      binding.how = handler ? Bound::exception : Bound::with;
      binding.value = syntax_.first_child(statement);
      break;
    }
    case Kind::parameters:
    case Kind::parameter:
      binding.how = Bound::parameter;
      break;
    case Kind::delete_statement:
      binding.how = Bound::deleted;
      break;
    default:
      // `a: int` binds nothing; `a = b = value` binds both to the value.
      if (binding.value == kNone && syntax_.nodes[statement].kind == Kind::assign) return;
      while (binding.value != kNone && syntax_.nodes[binding.value].kind == Kind::assign) {
        binding.value = syntax_.child(binding.value, Field::right);
      }
      break;
  }
  if (position >= 0 && binding.value != kNone && binding.how == Bound::assign) {
    // `a, b = x, y` is two assignments.
    const Node& value = syntax_.nodes[binding.value];
    if (value.kind == Kind::tuple || value.kind == Kind::list) {
      auto element = syntax_.first_child(binding.value);
      for (int i = 0; i < position && element != kNone; ++i)
        element = syntax_.next_sibling(element);
      if (element != kNone) {
        binding.value = element;
        binding.position = -1;
      }
    }
  }
  bindings_.push_back(binding);
}

void Scopes::sort_bindings() {
  std::stable_sort(bindings_.begin(), bindings_.end(),
                   [](const Binding& a, const Binding& b) { return a.place < b.place; });
  for (std::uint32_t i = 0; i < bindings_.size(); ++i) {
    PlaceRecord& place = places_[bindings_[i].place];
    if (place.binding_count++ == 0) place.first_binding = i;
  }
  std::uint32_t next = 0;
  for (PlaceRecord& place : places_) {
    place.first_use = next;
    next += place.use_count;
    place.use_count = 0;
  }
  uses_.resize(next);
  for (std::uint32_t id = 0; id < syntax_.nodes.size(); ++id) {
    const Kind kind = syntax_.nodes[id].kind;
    if ((kind != Kind::name && kind != Kind::attribute) || place_of_[id] == kNone || binds(id)) {
      continue;
    }
    PlaceRecord& place = places_[place_of_[id]];
    uses_[place.first_use + place.use_count++] = id;
  }
}

DottedId Scopes::dotted(std::uint32_t node) const { return dotted_at(node, kAliasDepth); }

DottedId Scopes::dotted_at(std::uint32_t node, int depth) const {
  const Node& at = syntax_.nodes[node];
  if (depth == 0) return 0;
  if (at.kind == Kind::attribute) {
    const std::uint32_t object = syntax_.child(node, Field::object);
    const DottedId owner = object == kNone ? 0 : dotted_at(object, depth);
    if (owner != 0) return names_.dotted(owner, at.name);
    return place_of_[node] == kNone ? 0 : dotted_of_place(place_of_[node], depth);
  }
  if (at.kind != Kind::name) return 0;
  if (place_of_[node] != kNone) return dotted_of_place(place_of_[node], depth);
  const std::string_view text = names_.text(at.name);
  if (std::find(kBuiltins.begin(), kBuiltins.end(), text) != kBuiltins.end()) {
    return names_.dotted(names_.dotted(0, names_.identifier("builtins")), at.name);
  }
  // Which of several star imports a name came from cannot be told.
  return stars_.size() == 1 ? names_.dotted(stars_.front(), at.name) : 0;
}

DottedId Scopes::dotted_of_place(PlaceId id, int depth) const {
  const PlaceRecord& place = places_[id];
  if (place.binding_count == 0) return 0;
  const Binding* first = bindings(id);
  if (first->how == Bound::import) {
    const bool only_imports = std::all_of(first, first + place.binding_count, [](const Binding& b) {
      return b.how == Bound::import || b.how == Bound::deleted;
    });
    return only_imports ? syntax_.nodes[first->target].dotted : 0;
  }
  const bool is_alias = place.binding_count == 1 && first->how == Bound::assign &&
                        first->position < 0 && first->value != kNone;
  return is_alias ? dotted_at(first->value, depth - 1) : 0;
}

PlaceId Scopes::instances_of(std::uint32_t class_node) const {
  const auto at = instances_.find(class_node);
  return at == instances_.end() ? kNone : at->second;
}

std::vector<std::uint32_t> Scopes::bases(std::uint32_t class_node) const {
  std::vector<std::uint32_t> result;
  for (auto child = syntax_.first_child(class_node); child != kNone;
       child = syntax_.next_sibling(child)) {
    if (syntax_.nodes[child].field != Field::argument || place_of_[child] == kNone) continue;
    const PlaceRecord& place = places_[place_of_[child]];
    const Binding* at = bindings(place_of_[child]);
    for (std::uint32_t i = 0; i < place.binding_count; ++i) {
      if (at[i].how == Bound::class_definition) result.push_back(at[i].target);
    }
  }
  return result;
}

bool Scopes::is_builtin(std::uint32_t node, std::string_view name) const {
  return syntax_.nodes[node].kind == Kind::name && place_of_[node] == kNone &&
         names_.text(syntax_.nodes[node].name) == name;
}

}  // namespace xleak::monitor::source
