// A part that points back to its owner: both are freed by the collector alone, whenever it comes.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::buffer_module_cycle {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " is the object that it starts from, a reference cycle (" + std::to_string(holder.count) +
         " in all). Collect them with `import gc; gc.collect()`, or pass the owner as an argument "
         "in place of the attribute that refers to it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule stays{"cycle of objects", "Collect the garbage now", message};
  HolderRule waits = stays.as(Severity::note);
  waits.kind = "cycle of objects, to be collected";
  return holder_findings(session, {stays, waits});
}

using source::Field;
using source::Kind;

bool is_self(const Expr& value) {
  return value.is(Kind::name) && value.place() && value.place() == value.self();
}

bool is_of_self(Expr target) {
  target = target.root();
  while (target.is(Kind::attribute)) target = target.child(Field::object).root();
  return is_self(target);
}

// `self.part = part`, `self.parts.append(part)`, `self.register_buffer("part", part)`.
bool is_owned(const Expr& part) {
  if (part.is(Kind::attribute)) return is_of_self(part);
  for (const Expr& use : part.place().uses()) {
    if (use.function() != part.function()) continue;
    const Expr above = use.parent();
    if (above.is(Kind::assign) && above.child(Field::right) == use) {
      const Expr left = above.child(Field::left);
      if (!left.is(Kind::name) && is_of_self(left)) return true;
    }
    const Call call = above.as_call();
    if (call && call.callee() != use && is_of_self(call.receiver()) &&
        (call.method() == "append" || call.method() == "register_buffer" ||
         call.method() == "add_module" || call.method() == "register_module")) {
      return true;
    }
  }
  return false;
}

bool is_taken_back(Place link) {
  for (const PlaceBinding& binding : link.bindings()) {
    const bool frees = binding.how == source::Bound::deleted || binding.value.is(Kind::none);
    // A name here is that of the class body, which says how it begins.
    const bool is_begin =
        binding.target.is(Kind::name) || binding.target.function().name() == "__init__";
    if (frees && !is_begin) return true;
  }
  return false;
}

Finding told(const SourceView& code, const Expr& spot, const Expr& part) {
  const Expr owner = spot.class_definition();
  const Value of_part = part.value();
  const std::string name = "`" + std::string(part.text().substr(0, 40)) + "`";
  if (code.is_module_class(owner) && of_part.type == ValueType::module) {
    Finding finding = spot.finding(
        name +
        " gets its owner as an attribute, and a module registers modules: `state_dict()`, "
        "`train()` and `to()` recurse without end. Pass the owner as an argument.");
    finding.severity = Severity::error;
    return finding;
  }
  Finding finding = spot.finding(
      name +
      " points back to the object that keeps it: both stay until the collector comes "
      "round, however large they are. Pass the owner as an argument where it is needed.");
  const bool is_large = of_part.is_tensor() || code.owns_data(owner);
  finding.severity = is_large ? Severity::warning : Severity::note;
  return finding;
}

void find_links(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    if (!left.is(Kind::attribute) || !is_self(statement.child(Field::right))) continue;
    const Expr part = left.child(Field::object);
    const bool links = is_self(part) || is_owned(part);
    if (!links || is_taken_back(left.place())) continue;
    findings.push_back(told(code, statement, part));
  }
}

bool keeps_argument(const Call& call, const Expr& class_definition) {
  for (const Expr& function : class_definition.child(Field::body).children()) {
    if (function.name() != "__init__" || !function.is(Kind::function)) continue;
    for (const Expr& statement : function.all(Kind::assign)) {
      const Expr left = statement.child(Field::left);
      const Expr right = statement.child(Field::right);
      if (!left.is(Kind::attribute) || !right.is(Kind::name)) continue;
      int position = -1;
      for (const Expr& parameter : statement.function().parameters()) {
        const bool is_given = position >= 0 && parameter.place() == right.place() &&
                              is_self(call.argument(parameter.name(), position));
        if (is_given && !is_taken_back(left.place())) return true;
        ++position;
      }
    }
  }
  return false;
}

bool mentions_self(const Call& call) {
  for (const Expr& argument : call.children()) {
    if (is_self(argument.is(Kind::keyword) ? argument.child(Field::right) : argument)) return true;
  }
  return false;
}

// `self.child = Child(self)`, where the child keeps what it gets.
void find_children(const SourceView& code, std::vector<Finding>& findings) {
  for (const Expr& class_definition : code.classes()) {
    for (const Call& call : class_definition.constructors()) {
      if (!call.function() || !mentions_self(call)) continue;
      const Expr target = call.assignment().child(Field::left);
      const bool is_kept = target.is(Kind::attribute) && is_of_self(target);
      if (!is_kept || !keeps_argument(call, class_definition)) continue;
      findings.push_back(told(code, call, call));
    }
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (code.classes().empty()) return findings;
  find_links(code, findings);
  find_children(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL106", "buffer_module_cycle", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::buffer_module_cycle
