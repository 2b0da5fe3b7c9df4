// A callback that an object keeps and that keeps the object: the collector alone frees both.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::self_capturing_callback {
namespace {

std::string message(const Holder& holder) {
  return human(holder.held_bytes) +
         " that no name reaches wait for the garbage collector: " + holder.largest +
         " is the object that it starts from, a reference cycle (" + std::to_string(holder.count) +
         " in all). Collect them with `import gc; gc.collect()`; give the callback the values that "
         "it "
         "needs, or a `weakref.ref`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule stays{"cycle of a callback", "Collect the garbage now", message};
  HolderRule waits = stays.as(Severity::note);
  waits.kind = "cycle of a callback, to be collected";
  return holder_findings(session, {stays, waits});
}

using source::Field;
using source::Kind;

bool is_of(Expr object, Place self) {
  object = object.root();
  while (object.is(Kind::attribute)) object = object.child(Field::object).root();
  return self && object.place() == self;
}

bool is_bound_method(const Expr& callback, Place self) {
  return callback.is(Kind::attribute) && callback.child(Field::object).place() == self &&
         !callback.functions().empty();
}

// `partial(f, self)` and `partial(self.draw, 3)`; the value of an attribute is bound alone.
bool binds(const Call& partial, Place self) {
  if (!partial.callee().is_dotted({"functools.partial"})) return false;
  for (const Expr& child : partial.children()) {
    const Expr argument = child.is(Kind::keyword) ? child.child(Field::right) : child;
    if (argument == partial.callee()) continue;
    if (argument.place() == self || is_bound_method(argument, self)) return true;
  }
  return false;
}

bool captures(const Expr& callback, Place self) {
  if (callback.is(Kind::lambda)) return callback.child(Field::body).mentions(self);
  if (callback.is(Kind::call)) return binds(callback.as_call(), self);
  if (!callback.is(Kind::name)) return false;
  for (const Function& nested : callback.functions()) {
    if (nested.function() == callback.function() && nested.body().mentions(self)) return true;
  }
  return false;
}

// Emptied, deleted, or replaced by another value some time later.
bool is_let_go(Place holder) {
  if (!holder.calls_of({"clear", "pop", "remove"}).empty()) return true;
  int values = 0;
  for (const PlaceBinding& binding : holder.bindings()) {
    if (binding.how == source::Bound::deleted) return true;
    // A name here is that of the class body, which says how it begins.
    if (binding.target.is(Kind::name)) continue;
    if (binding.target.function().name() == "__init__") continue;
    if (binding.value.is(Kind::none) || ++values > 1) return true;
  }
  return false;
}

// What takes a callback and keeps it.
bool keeps_callback(const Call& call) {
  const std::string_view dotted = call.callee().dotted();
  const std::string_view name =
      dotted.empty() ? call.callee().name() : dotted.substr(dotted.rfind('.') + 1);
  const bool is_hook = name.substr(0, 9) == "register_" && name.size() > 5 &&
                       name.substr(name.size() - 5) == "_hook";
  return is_hook || is_one_of(name, {"LambdaLR", "MultiplicativeLR", "add_callback", "subscribe"});
}

struct Callback {
  Expr value;
  Place holder;  ///< The attribute that keeps it, or what keeps it for it.
};

void add(const Expr& value, Place holder, std::vector<Callback>& callbacks) {
  if (value.is(Kind::list) || value.is(Kind::tuple)) {
    for (const Expr& element : value.children()) callbacks.push_back({element, holder});
  } else if (value.is(Kind::dict)) {
    for (const Expr& pair : value.children()) {
      callbacks.push_back({pair.child(Field::right), holder});
    }
  } else {
    callbacks.push_back({value, holder});
  }
}

// What may hold itself: values that go to an attribute, into a container there, or to a keeper.
std::vector<Callback> kept_callbacks(const SourceView& code) {
  std::vector<Callback> callbacks;
  for (const Expr& statement : code.assignments()) {
    const Expr left = statement.child(Field::left);
    if (!left.is(Kind::attribute) || !is_of(left, statement.self())) continue;
    const Expr right = statement.child(Field::right);
    add(right, left.place(), callbacks);
    if (!keeps_callback(right.as_call())) continue;
    for (const Expr& child : right.children()) {
      callbacks.push_back(
          {child.is(Kind::keyword) ? child.child(Field::right) : child, left.place()});
    }
  }
  for (const Store& store : code.stores()) {
    if (store.site.is(Kind::comprehension)) continue;
    const Expr holder = store.container.root();
    if (holder.is(Kind::attribute) && is_of(holder, store.site.self())) {
      callbacks.push_back({store.value, holder.place()});
    }
  }
  return callbacks;
}

Finding told(const SourceView& code, const Callback& callback, bool is_method) {
  Finding finding = callback.value.finding(
      is_method ? "The bound method `" + std::string(callback.value.text()) +
                      "` is kept by its own object: it waits for the collector, with all that it "
                      "owns. Look the method up when it is called, or keep a `weakref.WeakMethod`."
                : "This callback uses `self` and is kept by it: the object waits for the "
                  "collector, with all that it owns. Bind the values that it needs by a default "
                  "argument, or clear it when the object is done.");
  const bool is_large = code.owns_data(callback.value.class_definition());
  finding.severity = is_large && !is_method ? Severity::warning : Severity::note;
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (code.classes().empty()) return findings;
  for (const Callback& callback : kept_callbacks(code)) {
    const Place self = callback.value.self();
    const bool is_method = is_bound_method(callback.value, self);
    if (!self || (!is_method && !captures(callback.value, self))) continue;
    if (is_let_go(callback.holder)) continue;
    findings.push_back(told(code, callback, is_method));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL113", "self_capturing_callback", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::self_capturing_callback
