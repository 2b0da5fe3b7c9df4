// What is put into which container, and whether the container stays small.
#include <algorithm>

#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// A literal number of iterations up to this keeps no more than a reader can see.
constexpr long long kFewIterations = 8;

struct StoringMethod {
  std::string_view name;
  int value_at;
};

constexpr StoringMethod kStoringMethods[] = {
    {"append", 0}, {"appendleft", 0}, {"add", 0},    {"push", 0},  {"put", 0},
    {"insert", 1}, {"setdefault", 1}, {"extend", 0}, {"store", 0}, {"remember", 0},
};

/// Collects the stores of a program.
class Collector {
 public:
  explicit Collector(const Program& program) : program_(program) {}

  std::vector<Store> run() {
    for (const Call& call : program_.calls) of_call(call);
    for (const Expr& statement : program_.assignments) of_assignment(statement);
    std::stable_sort(stores_.begin(), stores_.end(),
                     [](const Store& a, const Store& b) { return a.site < b.site; });
    return std::move(stores_);
  }

 private:
  void of_call(const Call& call) {
    const Expr receiver = call.receiver();
    if (!receiver || !call.callee().dotted().empty()) return;
    const std::string_view method = call.method();
    if (computes(call)) return;
    if (method == "update") return of_update(call);
    for (const StoringMethod& storing : kStoringMethods) {
      if (method != storing.name) continue;
      if (method == "add" && is_used(call)) return;
      const auto arguments = call.arguments();
      if (static_cast<int>(arguments.size()) <= storing.value_at) return;
      if (method == "push" || method == "put" || method == "store" || method == "remember") {
        // Buffers take the parts of a transition one by one.
        for (const Expr& argument : arguments) add(call, receiver, argument, {});
        add_keywords(call);
        return;
      }
      return add(call, receiver, arguments[storing.value_at],
                 method == "setdefault" ? arguments[0] : Expr());
    }
  }

  // `total.add(loss)` of a class of the program whose add() puts nothing into anything.
  static bool computes(const Call& call) {
    const auto methods = call.callees();
    return !methods.empty() && std::none_of(methods.begin(), methods.end(), puts_something);
  }

  static bool puts_something(const Function& method) {
    const auto any = [&](Kind kind, auto test) {
      const auto all = method.all(kind);
      return std::any_of(all.begin(), all.end(), test);
    };
    return any(Kind::call, stores_by_name) ||
           any(Kind::assign,
               [](const Expr& it) { return it.child(Field::left).is(Kind::subscript); }) ||
           any(Kind::augmented_assign,
               [](const Expr& it) { return it.child(Field::right).is(Kind::list); });
  }

  static bool stores_by_name(const Expr& spot) {
    const std::string_view method = spot.as_call().method();
    return method == "update" ||
           std::any_of(std::begin(kStoringMethods), std::end(kStoringMethods),
                       [&](const StoringMethod& storing) { return storing.name == method; });
  }

  // A set returns nothing; `y = module.add(x)` computes something.
  static bool is_used(const Call& call) {
    return !call.is_discarded() && !call.parent().is(Kind::lambda);
  }

  void add_keywords(const Call& call) {
    for (const Expr& argument : call.children()) {
      if (argument.is(Kind::keyword)) add(call, call.receiver(), argument.child(Field::right), {});
    }
  }

  // `d.update(loss=loss)` and `d.update({"loss": loss})`.
  void of_update(const Call& call) {
    for (const Expr& argument : call.children()) {
      if (argument.is(Kind::keyword)) add(call, call.receiver(), argument.child(Field::right), {});
      if (argument.is(Kind::dict)) add(call, call.receiver(), argument, {});
    }
  }

  void of_assignment(const Expr& statement) {
    const Expr left = statement.child(Field::left);
    const Expr right = statement.child(Field::right);
    if (!left || !right) return;
    if (statement.is(Kind::augmented_assign)) {
      if (right.is(Kind::list) && left.place()) add(statement, left, right, {});
      return;
    }
    if (left.is(Kind::subscript)) {
      Expr index;
      for (const Expr& child : left.children()) {
        if (child != left.child(Field::object)) index = child;
      }
      return add(statement, left.child(Field::object), right, index);
    }
    if (right.is(Kind::comprehension) && left.place()) {
      add(right, left, right.child(Field::body), {});
    }
  }

  // One level of wrapping is looked through: (step, loss), {"loss": loss}, Transition(s, a).
  void add(const Expr& site, const Expr& container, const Expr& value, const Expr& index) {
    if (!container || !value) return;
    const Kind kind = value.kind();
    if (kind == Kind::tuple || kind == Kind::list || kind == Kind::dict) {
      for (const Expr& element : value.children()) {
        stores_.push_back({site, container,
                           element.is(Kind::pair) ? element.child(Field::right) : element, index});
      }
      return;
    }
    if (is_record(value.as_call())) {
      for (const Expr& part : value.children()) {
        if (part == value.child(Field::callee)) continue;
        stores_.push_back(
            {site, container, part.is(Kind::keyword) ? part.child(Field::right) : part, index});
      }
      return;
    }
    stores_.push_back({site, container, value, index});
  }

  // `Sample(i, mask)` of a dataclass or a named tuple: its fields are what it is called with.
  static bool is_record(const Call& call) {
    for (const PlaceBinding& binding : call.callee().place().bindings()) {
      if (binding.value.as_call().callee().is_dotted({"collections.namedtuple"})) return true;
      if (binding.how != Bound::class_definition) continue;
      for (const Expr& part : binding.target.children()) {
        const Expr what = part.is(Kind::decorator) ? part.first_child() : part;
        const Call made = what.as_call();
        const Expr named = made ? made.callee() : what;
        if (named.is_dotted({"dataclasses.dataclass", "typing.NamedTuple"})) return true;
      }
    }
    return false;
  }

  const Program& program_;
  std::vector<Store> stores_;
};

bool has_limit(const Expr& container) {
  const Call made = container.made_by();
  if (!made) return false;
  const Expr limit = made.argument("maxlen", 1);
  return limit && !limit.is(Kind::none) && made.callee().is_dotted({"collections.deque"});
}

// The same elements are written again: c[i % k], c["last"].
bool is_ring(const Store& store) {
  if (!store.index) return false;
  return store.index.is_literal() ||
         (store.index.is(Kind::binary) && store.index.op() == Operator::modulo);
}

bool runs_seldom(const Store& store) {
  long long iterations = 1;
  const auto loops = store.site.loops();
  for (const Loop& loop : loops) {
    const auto of_loop = loop.iterations();
    if (!of_loop || *of_loop > kFewIterations) return false;
    iterations *= *of_loop;
  }
  return !loops.empty() && iterations <= kFewIterations;
}

// What a method of an object takes out, whoever uses the object has called in time.
bool is_in_another_method(const Expr& removal, const Store& store) {
  const Function method = removal.function();
  return method.is_method() && method.name() != "__init__" &&
         store.container.root().place().is_attribute();
}

// Something at this spot makes the container smaller again while the store goes on.
bool counts_for(const Expr& removal, const Store& store) {
  if (removal.function() != store.site.function()) {
    return removal.in_loop() || is_in_another_method(removal, store);
  }
  for (const Loop& loop : store.site.loops()) {
    if (!loop.is(Kind::comprehension) && removal.is_inside(loop.body())) return true;
  }
  return store.site.loops().empty() && store.site.function();
}

bool empties(const Expr& use) {
  // `del c[0]` and `c[:] = c[-10:]`.
  const Expr element = use.parent();
  if (!element.is(Kind::subscript) || element.child(Field::object) != use) return false;
  const Expr statement = element.parent();
  if (statement.is(Kind::delete_statement)) return true;
  const auto index = element.children();
  return statement.is(Kind::assign) && statement.child(Field::left) == element &&
         index.size() == 2 && index.back().is(Kind::slice);
}

}  // namespace

std::vector<Store> find_stores(const Program& program) { return Collector(program).run(); }

bool is_bounded(const Program&, const Store& store) {
  if (is_ring(store) || runs_seldom(store) || has_limit(store.container)) return true;
  const Place place = store.container.root().place();
  if (!place) return false;
  for (const Call& call :
       place.calls_of({"pop", "popleft", "popitem", "clear", "remove", "discard"})) {
    if (counts_for(call, store)) return true;
  }
  for (const PlaceBinding& binding : place.bindings()) {
    const bool fresh = binding.how == Bound::assign || binding.how == Bound::deleted;
    if (fresh && binding.target != store.container && counts_for(binding.target, store))
      return true;
  }
  for (const Expr& use : place.uses()) {
    if (empties(use) && counts_for(use, store)) return true;
  }
  return false;
}

}  // namespace xleak::monitor::source
