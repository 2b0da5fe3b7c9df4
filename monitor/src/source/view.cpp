// The questions that rules ask: see xleak/monitor/source.hpp.
#include <algorithm>
#include <charconv>
#include <set>

#include "source/imports.hpp"
#include "source/program.hpp"

namespace xleak::monitor {

using source::Field;
using source::Kind;
using source::kNone;

// --- Expr ----------------------------------------------------------------------------------------

Kind Expr::kind() const { return *this ? program_->node(node_).kind : Kind::other; }
source::Operator Expr::op() const {
  return *this ? program_->node(node_).op : source::Operator::none;
}
int Expr::cell() const { return *this ? program_->cells[program_->cell_of(node_)].index : 0; }
int Expr::line() const { return *this ? static_cast<int>(program_->node(node_).line) : 0; }

Lines Expr::lines() const {
  const std::string_view code = text();
  const auto more = std::count(code.begin(), code.end(), '\n');
  return {cell(), line(), line() + static_cast<int>(more)};
}

std::string_view Expr::text() const {
  if (!*this) return {};
  const source::Node& node = program_->node(node_);
  const std::string_view cell = program_->texts[program_->cell_of(node_)];
  return cell.substr(node.start, node.stop - node.start);
}

std::string_view Expr::name() const {
  return *this ? program_->names.text(program_->node(node_).name) : std::string_view();
}

std::string_view Expr::dotted() const {
  return *this ? std::string_view(program_->names.dotted_text(program_->scopes->dotted(node_)))
               : std::string_view();
}

bool Expr::is_dotted(std::initializer_list<std::string_view> names) const {
  const std::string_view mine = dotted();
  return !mine.empty() && std::find(names.begin(), names.end(), mine) != names.end();
}

Place Expr::place() const {
  return *this ? Place(program_, program_->scopes->place_of(node_)) : Place();
}

Expr Expr::root() const {
  Expr at = *this;
  while (at.is(Kind::subscript) || at.is(Kind::call)) {
    const Expr below = at.is(Kind::call) ? at.as_call().receiver() : at.child(Field::object);
    if (!below || !below.dotted().empty()) break;
    at = below;
  }
  return at;
}

List<Function> Expr::functions() const {
  if (is(Kind::lambda) || is(Kind::function)) return {Function(program_, node_)};
  if (const Call call = as_call()) {
    const auto arguments = call.arguments();
    if (call.callee().is_dotted({"functools.partial"})) {
      return arguments.empty() ? List<Function>() : arguments.front().functions();
    }
    List<Function> made;
    for (const Function& factory : call.callees()) {
      for (const Expr& result : factory.returned()) {
        if (result.is(Kind::call)) continue;
        for (const Function& function : result.functions()) made.push_back(function);
      }
    }
    return made;
  }
  List<Function> named;
  for (const PlaceBinding& binding : place().bindings()) {
    if (binding.how == source::Bound::function) named.emplace_back(program_, binding.target.id());
    if (binding.value.is(Kind::lambda)) named.emplace_back(program_, binding.value.id());
  }
  return named;
}

Value Expr::value() const { return *this ? source::value_of(*program_, node_) : Value(); }

bool Expr::is_loss_like() const {
  const Value what = value();
  if (!what.is_tensor()) return false;
  if (what.loss || source::is_reduction(as_call())) return true;
  for (const PlaceBinding& binding : place().bindings()) {
    if (binding.position < 0 && binding.value.is(Kind::call) &&
        source::is_reduction(binding.value.as_call())) {
      return true;
    }
  }
  return false;
}

Call Expr::made_by() const {
  const std::uint32_t origin = value().origin;
  return origin == kNone ? Call() : Call(program_, origin);
}

Expr Expr::parent() const { return *this ? program_->at(program_->node(node_).parent) : Expr(); }

Expr Expr::enclosing(Kind kind) const {
  const Expr above = parent();
  return above ? program_->at(program_->above(above.id(), kind)) : Expr();
}

Expr Expr::child(Field field) const {
  return *this ? program_->at(program_->syntax.child(node_, field)) : Expr();
}

List<Expr> Expr::children() const {
  List<Expr> result;
  if (!*this) return result;
  const source::Syntax& syntax = program_->syntax;
  for (auto child = syntax.first_child(node_); child != kNone; child = syntax.next_sibling(child)) {
    result.push_back(program_->at(child));
  }
  return result;
}

Expr Expr::first_child() const {
  return *this ? program_->at(program_->syntax.first_child(node_)) : Expr();
}

Expr Expr::last_child() const {
  const auto all_of_them = children();
  return all_of_them.empty() ? Expr() : all_of_them.back();
}

List<Expr> Expr::all(Kind kind) const {
  List<Expr> result;
  if (!*this) return result;
  for (std::uint32_t id = node_; id < program_->node(node_).end; ++id) {
    if (program_->node(id).kind == kind) result.push_back(program_->at(id));
  }
  return result;
}

bool Expr::is_inside(Expr other) const {
  return *this && other && node_ >= other.node_ && node_ < program_->node(other.node_).end;
}

bool Expr::mentions(Place place) const {
  if (!*this || !place) return false;
  for (std::uint32_t id = node_; id < program_->node(node_).end; ++id) {
    if (Place(program_, program_->scopes->place_of(id)) == place) return true;
  }
  return false;
}

Call Expr::as_call() const { return is(Kind::call) ? Call(program_, node_) : Call(); }

Loop Expr::as_loop() const {
  const bool is_loop = is(Kind::for_loop) || is(Kind::while_loop) || is(Kind::comprehension);
  return is_loop ? Loop(program_, node_) : Loop();
}

bool Expr::is_literal() const {
  switch (kind()) {
    case Kind::integer:
    case Kind::floating:
    case Kind::string:
    case Kind::true_literal:
    case Kind::false_literal:
    case Kind::none:
      return true;
    case Kind::unary:
      return !children().empty() && children().front().is_literal();
    default:
      return false;
  }
}

bool Expr::is_true() const { return is(Kind::true_literal) || integer() == 1; }
bool Expr::is_false() const { return is(Kind::false_literal) || integer() == 0; }

std::optional<long long> Expr::integer() const {
  if (!is(Kind::integer)) return std::nullopt;
  std::string digits;
  for (const char c : text()) {
    if (c != '_') digits += c;
  }
  long long value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string_view Expr::string() const {
  if (!is(Kind::string)) return {};
  std::string_view body = text();
  const std::size_t open = body.find_first_of("\"'");
  if (open == std::string_view::npos) return {};
  const char quote = body[open];
  body.remove_prefix(open);
  const std::size_t width = body.size() >= 6 && body[1] == quote && body[2] == quote ? 3 : 1;
  return body.size() < 2 * width ? std::string_view() : body.substr(width, body.size() - 2 * width);
}

Expr Expr::statement() const {
  for (Expr at = *this; at; at = at.parent()) {
    const Kind above = at.parent().kind();
    if (above == Kind::block || above == Kind::cell) return at;
  }
  return {};
}

Expr Expr::assignment() const {
  for (Expr at = *this; at; at = at.parent()) {
    if (at.is(Kind::assign)) return is_inside(at.child(Field::right)) ? at : Expr();
    if (at.parent().is(Kind::block) || at.parent().is(Kind::cell)) break;
  }
  return {};
}

List<Loop> Expr::loops() const {
  return *this ? source::loops_around(*program_, node_) : List<Loop>();
}

bool Expr::loops_run_at_most(long long iterations) const {
  const auto around = loops();
  return !around.empty() && std::all_of(around.begin(), around.end(), [&](const Loop& loop) {
    const auto of_loop = loop.iterations();
    return of_loop && *of_loop <= iterations;
  });
}

Function Expr::function() const {
  return *this ? Function(program_, program_->function_of(node_)) : Function();
}

Function Expr::enclosing_method() const {
  Function method = function();
  while (method && !method.is_method()) method = method.function();
  return method;
}

Place Expr::self() const {
  const auto parameters = enclosing_method().parameters();
  return parameters.empty() ? Place() : parameters.front().place();
}

Expr Expr::class_definition() const {
  return *this ? program_->at(program_->above(program_->node(node_).parent, Kind::class_definition))
               : Expr();
}

List<Call> Expr::constructors() const {
  List<Call> result;
  if (!is(Kind::class_definition)) return result;
  for (const Expr& use : place().uses()) {
    const Call call = use.parent().as_call();
    if (call && call.callee() == use) result.push_back(call);
  }
  return result;
}

bool Expr::at_top_level() const { return *this && !function() && !class_definition(); }
bool Expr::is_of_module() const {
  return *this && !program_->cells[program_->cell_of(node_)].module.empty();
}

Finding Expr::finding(std::string message) const {
  Finding result;
  result.basis = Basis::source;
  result.cell = cell();
  result.cause_cell = cell();
  result.line = line();
  const source::Node& node = program_->node(node_);
  const std::string_view before =
      std::string_view(program_->texts[program_->cell_of(node_)]).substr(0, node.start);
  const std::size_t newline = before.rfind('\n');
  result.column =
      static_cast<int>(newline == std::string_view::npos ? node.start : node.start - newline - 1) +
      1;
  result.message = std::move(message);
  result.key = std::to_string(result.cell) + ":" + std::to_string(*result.line) + ":" +
               std::to_string(result.column);
  return result;
}

// --- Call ----------------------------------------------------------------------------------------

Expr Call::callee() const { return child(Field::callee); }

Expr Call::receiver() const {
  const Expr what = callee();
  return what.is(Kind::attribute) ? what.child(Field::object) : Expr();
}

std::string_view Call::method() const {
  const Expr what = callee();
  return what.is(Kind::attribute) ? what.name() : std::string_view();
}

List<Expr> Call::arguments() const {
  List<Expr> result;
  for (const Expr& child : children()) {
    if (program_->node(child.id()).field == Field::argument && !child.is(Kind::keyword) &&
        !child.is(Kind::starred)) {
      result.push_back(child);
    }
  }
  return result;
}

Expr Call::keyword(std::string_view name) const {
  for (const Expr& child : children()) {
    if (child.is(Kind::keyword) && child.name() == name) return child.child(Field::right);
  }
  return {};
}

Expr Call::argument(std::string_view name, int position) const {
  const Expr named = keyword(name);
  if (named) return named;
  int at = 0;
  for (const Expr& child : children()) {
    if (program_->node(child.id()).field != Field::argument || child.is(Kind::keyword)) continue;
    if (child.is(Kind::starred)) return {};
    if (at++ == position) return child;
  }
  return {};
}

Expr Call::target() const {
  const Expr above = parent();
  if (above.is(Kind::assign) || above.is(Kind::named_expression)) return above.child(Field::left);
  return {};
}

bool Call::is_discarded() const { return parent().is(Kind::expression_statement); }

List<Function> Call::callees() const {
  List<Function> result;
  const Place place = callee().place();
  if (!place) return result;
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how == source::Bound::function) result.emplace_back(program_, binding.target.id());
  }
  return result;
}

// --- Loop ----------------------------------------------------------------------------------------

Expr Loop::target() const {
  if (!is(Kind::comprehension)) return child(Field::left);
  for (const Expr& part : children()) {
    if (part.is(Kind::comprehension_for)) return part.child(Field::left);
  }
  return {};
}

Expr Loop::iterable() const {
  if (!is(Kind::comprehension)) return child(Field::right);
  for (const Expr& part : children()) {
    if (part.is(Kind::comprehension_for)) return part.child(Field::right);
  }
  return {};
}

Expr Loop::body() const { return child(Field::body); }

Lines Loop::head() const { return {cell(), line(), iterable().lines().last}; }

bool Loop::changes(Expr expression) const {
  for (const Kind kind : {Kind::name, Kind::attribute}) {
    for (const Expr& part : expression.all(kind)) {
      for (const PlaceBinding& binding : part.place().bindings()) {
        if (binding.target.is_inside(*this)) return true;
      }
    }
  }
  return false;
}

namespace {

// More iterations than this are over data.
constexpr long long kParts = 8;

bool yields_parts(const Expr& over) {
  const Call call = over.as_call();
  const std::string_view method = call.method();
  if (method == "parameters" || method == "named_parameters" || method == "modules" ||
      method == "named_modules" || method == "children" || method == "named_children") {
    return true;
  }
  if (over.value().type == ValueType::module) return true;
  const auto inner = call.arguments();
  return call.callee().is_dotted({"builtins.enumerate", "builtins.reversed"}) && !inner.empty() &&
         yields_parts(inner.front());
}

bool is_called_in(const Expr& body, Place place) {
  for (const Expr& use : place.uses()) {
    if (use.is_inside(body) && use.parent().as_call().callee() == use) return true;
  }
  return false;
}

}  // namespace

bool Loop::is_over_parts() const {
  if (!*this) return false;
  const auto few = iterations();
  if ((few && *few <= kParts) || yields_parts(iterable())) return true;
  const Expr turning = is(Kind::comprehension) ? static_cast<const Expr&>(*this) : body();
  for (const Expr& name : target().all(Kind::name)) {
    if (is_called_in(turning, name.place())) return true;
  }
  return false;
}

// --- Function ------------------------------------------------------------------------------------

Expr Function::body() const { return child(Field::body); }

List<Expr> Function::parameters() const {
  List<Expr> result;
  for (const Expr& child : child(Field::parameters).children()) {
    result.push_back(
        child.is(Kind::starred) ? child.children().empty() ? child : child.children()[0] : child);
  }
  return result;
}

List<Expr> Function::decorators() const {
  List<Expr> result;
  for (const Expr& child : children()) {
    if (child.is(Kind::decorator) && !child.children().empty())
      result.push_back(child.children()[0]);
  }
  return result;
}

List<Expr> Function::returned() const {
  List<Expr> result;
  if (is(Kind::lambda)) return {body()};
  for (const Expr& statement : all(Kind::return_statement)) {
    if (statement.function() != *this || statement.children().empty()) continue;
    result.push_back(statement.children()[0]);
  }
  return result;
}

List<Call> Function::call_sites() const {
  if (!*this) return {};
  const auto at = program_->calls_by_function.find(node_);
  return at == program_->calls_by_function.end() ? List<Call>() : at->second;
}

bool Function::is_method() const {
  return is(Kind::function) && parent().is(Kind::block) &&
         parent().parent().is(Kind::class_definition);
}

// --- Place ---------------------------------------------------------------------------------------

std::string_view Place::name() const {
  return *this ? program_->names.text(program_->scopes->place(id_).name) : std::string_view();
}

List<PlaceBinding> Place::bindings() const {
  List<PlaceBinding> result;
  if (!*this) return result;
  const source::Binding* at = program_->scopes->bindings(id_);
  for (std::uint32_t i = 0; i < program_->scopes->place(id_).binding_count; ++i) {
    result.push_back(
        {at[i].how, program_->at(at[i].target), program_->at(at[i].value), at[i].position});
  }
  return result;
}

List<Expr> Place::uses() const {
  List<Expr> result;
  if (!*this) return result;
  const std::uint32_t* at = program_->scopes->uses(id_);
  for (std::uint32_t i = 0; i < program_->scopes->place(id_).use_count; ++i) {
    result.push_back(program_->at(at[i]));
  }
  return result;
}

List<Call> Place::calls_of(std::initializer_list<std::string_view> methods) const {
  List<Call> result;
  for (const Expr& use : uses()) {
    const Call call = use.parent().parent().as_call();
    if (!call || call.receiver() != use) continue;
    if (std::find(methods.begin(), methods.end(), call.method()) != methods.end()) {
      result.push_back(call);
    }
  }
  return result;
}

List<Call> Place::calls() const {
  List<Call> result;
  for (const Expr& use : uses()) {
    const Call call = use.parent().as_call();
    if (call && call.callee() == use) result.push_back(call);
  }
  return result;
}

Place Place::owner() const {
  return *this ? Place(program_, program_->scopes->place(id_).owner) : Place();
}

bool Place::outlives(Expr spot) const {
  if (!*this) return false;
  Place root = *this;
  while (root.owner()) root = root.owner();
  const source::PlaceRecord& at = program_->scopes->place(root.id_);
  if (at.of_class != kNone) return true;
  const source::Scope& scope = program_->scopes->scope(at.scope);
  if (scope.kind == source::Scope::Kind::module) return true;
  return scope.kind == source::Scope::Kind::function && scope.node != spot.function().id();
}

bool Place::is_module_level() const {
  if (!*this || owner()) return false;
  const source::PlaceRecord& at = program_->scopes->place(id_);
  return at.of_class == kNone &&
         program_->scopes->scope(at.scope).kind == source::Scope::Kind::module;
}

// --- SourceView ----------------------------------------------------------------------------------

SourceView::SourceView(std::vector<SourceCell> cells)
    : program_(std::make_unique<source::Program>(std::move(cells))) {}
SourceView::~SourceView() = default;

namespace {

void in_order(List<Call>& calls) { std::sort(calls.begin(), calls.end()); }

void collect_calls(const source::Program& program, Expr spot, int levels,
                   std::set<std::uint32_t>& seen, List<Call>& result) {
  for (const Expr& expression : spot.all(Kind::call)) {
    const Call call = expression.as_call();
    if (!seen.insert(call.id()).second) continue;
    result.push_back(call);
    if (levels == 0) continue;
    for (const Function& function : call.callees()) {
      collect_calls(program, function.body(), levels - 1, seen, result);
    }
  }
}

}  // namespace

List<Call> SourceView::calls_to(std::initializer_list<std::string_view> dotted) const {
  List<Call> result;
  for (const std::string_view name : dotted) {
    const source::DottedId id = program_->names.known_dotted(name);
    const auto at = program_->calls_by_dotted.find(id);
    if (id == 0 || at == program_->calls_by_dotted.end()) continue;
    result.insert(result.end(), at->second.begin(), at->second.end());
  }
  in_order(result);
  return result;
}

List<Call> SourceView::calls_of(std::initializer_list<std::string_view> methods) const {
  List<Call> result;
  for (const std::string_view name : methods) {
    const source::NameId id = program_->names.known(name);
    const auto at = program_->calls_by_method.find(id);
    if (id == 0 || at == program_->calls_by_method.end()) continue;
    result.insert(result.end(), at->second.begin(), at->second.end());
  }
  in_order(result);
  return result;
}

List<Call> SourceView::calls_in(Expr spot) const {
  List<Call> result;
  std::set<std::uint32_t> seen;
  collect_calls(*program_, spot, 2, seen, result);
  return result;
}

const List<Call>& SourceView::calls() const { return program_->calls; }
const List<Loop>& SourceView::loops() const { return program_->loops; }
const List<Function>& SourceView::functions() const { return program_->functions; }
const List<Expr>& SourceView::classes() const { return program_->classes; }
const List<Expr>& SourceView::assignments() const { return program_->assignments; }
const List<Expr>& SourceView::deletions() const { return program_->deletions; }
const std::vector<Store>& SourceView::stores() const { return program_->stores; }
const std::vector<Update>& SourceView::updates() const { return program_->updates; }
Finding MagicLine::finding(std::string message) const {
  Finding result;
  result.basis = Basis::source;
  result.cell = cell;
  result.cause_cell = cell;
  result.line = line;
  result.column = 1;
  result.key = std::to_string(cell) + ":" + std::to_string(line) + ":1";
  result.message = std::move(message);
  return result;
}

const std::vector<MagicLine>& SourceView::magics() const { return program_->magics; }

const List<Expr>& SourceView::handlers() const { return program_->handlers; }
bool SourceView::is_notebook() const {
  const auto& cells = program_->cells;
  // Those of modules come first.
  return cells.size() > 1 && cells[cells.size() - 2].module.empty();
}

List<Expr> SourceView::displayed() const {
  List<Expr> result;
  for (std::size_t cell = 0; cell < program_->cells.size(); ++cell) {
    const std::uint32_t root = program_->first_node[cell];
    if (root >= program_->syntax.nodes.size() || program_->cell_of(root) != cell) continue;
    if (!program_->cells[cell].module.empty()) continue;
    const auto statements = program_->at(root).children();
    if (statements.empty() || !statements.back().is(Kind::expression_statement)) continue;
    const std::string_view text = program_->texts[cell];
    const std::string_view rest = text.substr(program_->node(statements.back().id()).stop);
    const std::size_t next = rest.find_first_not_of(" \t\r\n");
    const bool is_silenced = next != std::string_view::npos && rest[next] == ';';
    if (is_silenced || statements.back().children().empty()) continue;
    const Expr value = statements.back().children().front();
    if (!value.is(Kind::assign) && !value.is(Kind::augmented_assign)) result.push_back(value);
  }
  return result;
}

bool SourceView::uses(std::string_view package) const {
  return program_->names.known_dotted(package) != 0;
}

bool SourceView::has_name(std::string_view identifier) const {
  return program_->names.known(identifier) != 0;
}

std::vector<std::string> SourceView::imports() const {
  std::set<std::string> paths;
  std::size_t cell = 0;
  for (std::uint32_t id = 0; id < program_->syntax.nodes.size(); ++id) {
    const source::Node& node = program_->node(id);
    while (cell + 1 < program_->first_node.size() && program_->first_node[cell + 1] <= id) ++cell;
    if (node.kind != Kind::alias) continue;
    const std::string& bound = program_->names.dotted_text(node.dotted);
    // `import a.b` binds a and imports a.b.
    const std::string_view written =
        std::string_view(program_->texts[cell]).substr(node.start, node.stop - node.start);
    const bool goes_on = written.substr(0, bound.size() + 1) == bound + ".";
    const std::string_view path = goes_on ? written.substr(0, written.find(' ')) : bound;
    paths.insert(source::absolute_import(path, program_->cells[cell].package));
  }
  paths.erase("");
  return {paths.begin(), paths.end()};
}

std::string_view SourceView::imported_as(std::string_view dotted) const {
  const source::DottedId meant = program_->names.known_dotted(dotted);
  if (meant == 0) return {};
  for (std::uint32_t id = 0; id < program_->syntax.nodes.size(); ++id) {
    const source::Node& node = program_->node(id);
    if (node.kind == Kind::alias && node.dotted == meant && program_->at(id).at_top_level())
      return program_->names.text(node.name);
  }
  return {};
}

bool SourceView::is_derived(Expr class_definition,
                            std::initializer_list<std::string_view> dotted) const {
  return class_definition.is(Kind::class_definition) &&
         program_->is_derived(class_definition.id(), dotted, 0);
}

bool SourceView::is_bounded(const Store& store) const {
  return source::is_bounded(*program_, store);
}

namespace {

// A method that a method calls that a method calls; deeper ones are not looked for.
constexpr int kMethodLevels = 2;

bool is_pass(std::string_view name) {
  return name == "forward" || name == "training_step" || name == "__call__";
}

bool is_reached_by_pass(const Function& method, int levels) {
  if (is_pass(method.name())) return true;
  if (levels == 0 || method.name() == "__init__") return false;
  for (const Call& site : method.call_sites()) {
    const Function caller = site.enclosing_method();
    if (caller && caller != method && caller.class_definition() == method.class_definition() &&
        is_reached_by_pass(caller, levels - 1)) {
      return true;
    }
  }
  return false;
}

bool contains_word(std::string_view name, std::initializer_list<std::string_view> words) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool has_method(const Expr& class_definition, std::string_view name) {
  for (const Expr& function : class_definition.child(Field::body).children()) {
    if (function.is(Kind::function) && function.name() == name) return true;
  }
  return false;
}

}  // namespace

bool SourceView::is_module_class(Expr class_definition) const {
  return is_derived(class_definition,
                    {"torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList",
                     "torch.jit.ScriptModule", "lightning.LightningModule",
                     "lightning.core.LightningModule", "transformers.PreTrainedModel"});
}

bool SourceView::owns_data(Expr class_definition) const {
  if (is_module_class(class_definition)) return true;
  for (const Expr& statement : class_definition.all(Kind::assign)) {
    const Expr left = statement.child(Field::left);
    if (!left.is(Kind::attribute) || !left.place().outlives(statement)) continue;
    switch (statement.child(Field::right).value().type) {
      case ValueType::tensor:
      case ValueType::array:
      case ValueType::module:
      case ValueType::keras_model:
        return true;
      default:
        break;
    }
  }
  return false;
}

bool SourceView::runs_in_forward(Expr spot) const {
  const Function method = spot.enclosing_method();
  return method && is_module_class(method.class_definition()) &&
         is_reached_by_pass(method, kMethodLevels);
}

bool SourceView::is_replay_memory(const Store& store) const {
  const Expr container = store.container.root();
  if (contains_word(container.name(), {"replay", "rollout", "memory", "buffer", "transition",
                                       "trajector", "experience"})) {
    return true;
  }
  for (const PlaceBinding& made : container.made_by().callee().place().bindings()) {
    if (made.how == source::Bound::class_definition && has_method(made.target, "sample")) {
      return true;
    }
  }
  return false;
}

bool SourceView::is_long_lived(const Store& store) const {
  return !store.site.function() || store.container.root().place().outlives(store.site);
}

std::optional<Edit> SourceView::detached(const Store& store) const {
  const ValueType type = store.container.value().type;
  const bool is_comprehension = store.site.is(Kind::comprehension);
  const bool may_be_set = type == ValueType::unknown && store.site.as_call().method() == "add" &&
                          !is_replay_memory(store);
  const bool is_set = is_comprehension ? store.site.text().front() == '{' : type == ValueType::set;
  return is_set || may_be_set ? std::nullopt : store.value.detached();
}

bool SourceView::may_reach_backward(Place place) const { return source::may_reach_backward(place); }

bool SourceView::reaches_backward(Place place) const {
  const auto [known, is_new] = program_->led_back.try_emplace(place.id(), false);
  if (is_new) known->second = source::reaches_backward(place);
  return known->second;
}

}  // namespace xleak::monitor
