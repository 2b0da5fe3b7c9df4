#include "source/program.hpp"

#include <algorithm>

#include "source/leniency.hpp"
#include "source/nesting.hpp"

namespace xleak::monitor::source {

Program::Program(std::vector<SourceCell> cells_of_program) : cells(std::move(cells_of_program)) {
  texts.reserve(cells.size());
  std::size_t bytes = 0;
  for (const SourceCell& cell : cells) bytes += cell.text.size();
  // A node for every six bytes is what notebooks have.
  syntax.nodes.reserve(bytes / 6);
  for (const SourceCell& cell : cells) {
    PythonText python = only_python(cell.text, cell.index);
    texts.push_back(std::move(python.text));
    magics.insert(magics.end(), python.magics.begin(), python.magics.end());
    first_node.push_back(static_cast<std::uint32_t>(syntax.nodes.size()));
    remarks.insert(remarks.end(), python.remarks.begin(), python.remarks.end());
    readings.push_back(read_cell(texts.back()));
  }
  std::vector<CellOfModule> modules;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    modules.push_back({first_node[i], names.identifier(cells[i].module), cells[i].package});
  }
  scopes = std::make_unique<Scopes>(syntax, names, modules);
  index();
  stores = find_stores(*this);
  updates = find_updates(*this);
}

Reading Program::read_cell(std::string_view text) {
  std::uint32_t cut_line = 0;
  if (!is_short(text)) {
    Readable part = readable(text, has_error);
    cut_line = part.cut_line;
    // Names are views of what is parsed.
    if (cut_line != 0) text = parts.emplace_back(std::move(part.text));
  }
  Reading reading = parse_cell(text, names, syntax);
  reading.is_doubtful |= cut_line != 0 || is_read_leniently(syntax, first_node.back(), text);
  if (reading.cut_line == 0) reading.cut_line = cut_line;
  return reading;
}

void Program::index() {
  for (std::uint32_t id = 0; id < syntax.nodes.size(); ++id) {
    switch (syntax.nodes[id].kind) {
      case Kind::call:
        calls.emplace_back(this, id);
        break;
      case Kind::attribute:
        // What decorates or is derived from is used as well: uses() goes by the names that are
        // known.
        scopes->dotted(id);
        break;
      case Kind::for_loop:
      case Kind::while_loop:
      case Kind::comprehension:
        loops.emplace_back(this, id);
        break;
      case Kind::function:
        functions.emplace_back(this, id);
        if (is_called_backward(functions.back().name()) && functions.back().is_method())
          backward_methods.push_back(functions.back());
        break;
      case Kind::class_definition:
        classes.push_back(at(id));
        break;
      case Kind::except_branch:
        handlers.push_back(at(id));
        break;
      case Kind::assign:
      case Kind::augmented_assign:
        assignments.push_back(at(id));
        break;
      case Kind::delete_statement:
        deletions.push_back(at(id));
        break;
      default:
        break;
    }
  }
  for (const Call& call : calls) {
    const Expr callee = call.callee();
    if (!callee) continue;
    const std::uint32_t id = static_cast<std::uint32_t>(callee.id());
    const DottedId dotted = scopes->dotted(id);
    if (dotted != 0) calls_by_dotted[dotted].push_back(call);
    if (node(id).kind == Kind::attribute) calls_by_method[node(id).name].push_back(call);
    calls_backward |= is_called_backward(callee.name());
    const PlaceId place = scopes->place_of(id);
    if (place == kNone) continue;
    const Binding* binding = scopes->bindings(place);
    for (std::uint32_t i = 0; i < scopes->place(place).binding_count; ++i) {
      if (binding[i].how == Bound::function) calls_by_function[binding[i].target].push_back(call);
    }
  }
  // Other frameworks have such methods too. What a star brings may be torch.
  calls_backward &= names.known_dotted("torch") != 0 || scopes->has_stars();
}

std::size_t Program::cell_of(std::uint32_t id) const {
  return std::upper_bound(first_node.begin(), first_node.end(), id) - first_node.begin() - 1;
}

std::uint32_t Program::above(std::uint32_t id, Kind kind) const {
  while (id != kNone && node(id).kind != kind) id = node(id).parent;
  return id;
}

std::uint32_t Program::function_of(std::uint32_t id) const {
  for (std::uint32_t child = id, up = node(id).parent; up != kNone;
       child = up, up = node(up).parent) {
    const Field field = node(child).field;
    if (field == Field::decorator) continue;
    if (node(up).kind == Kind::function || node(up).kind == Kind::lambda) return up;
  }
  return kNone;
}

bool Program::is_derived(std::uint32_t class_node, std::initializer_list<std::string_view> dotted,
                         int depth) const {
  if (depth > kDeepestHierarchy) return false;
  for (auto child = syntax.first_child(class_node); child != kNone;
       child = syntax.next_sibling(child)) {
    if (node(child).field == Field::argument && at(child).is_dotted(dotted)) return true;
  }
  const auto bases = scopes->bases(class_node);
  return std::any_of(bases.begin(), bases.end(),
                     [&](std::uint32_t base) { return is_derived(base, dotted, depth + 1); });
}

}  // namespace xleak::monitor::source
