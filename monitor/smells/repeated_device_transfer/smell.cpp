// What lies on the device goes there again in each iteration, or takes the way over the host.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::repeated_device_transfer {
namespace {

using source::Bound;
using source::Field;
using source::Kind;

// x.cpu() → h = np.flip(x) → t = torch.from_numpy(h) → t.to(device)
constexpr int kSteps = 8;

// What NumPy does there, torch does on the device; other libraries need the host.
bool is_arithmetic(const Call& call) {
  const std::string_view dotted = call.callee().dotted();
  if (dotted.substr(0, 13) == "numpy.random." || dotted.substr(0, 6) == "torch.") {
    return dotted == "torch.from_numpy" || dotted == "torch.tensor" || dotted == "torch.as_tensor";
  }
  const bool takes_shape = dotted.size() > 5 && dotted.substr(dotted.size() - 5) == "_like";
  return dotted.substr(0, 6) == "numpy." && !takes_shape;
}

Expr left_the_device(const Expr& value, const Loop& loop, int depth);

bool is_changed_in_place(const Place& place, const Loop& loop) {
  const auto uses = place.uses();
  return std::any_of(uses.begin(), uses.end(), [&](const Expr& use) {
    const Expr above = use.parent();
    if (!use.is_inside(loop)) return false;
    const bool is_method = above.is(Kind::attribute) && above.parent().is(Kind::call);
    const std::string_view method = is_method ? above.name() : "";
    if (!method.empty() && method.back() == '_') return true;
    const Expr statement = above.parent();
    return above.is(Kind::subscript) && statement.child(Field::left) == above;
  });
}

Expr left_by_name(const Expr& name, const Loop& loop, int depth) {
  const Place place = name.place();
  // Element by element is the host's work.
  if (is_changed_in_place(place, loop)) return {};
  Expr value;
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how != Bound::assign || binding.position >= 0) continue;
    if (!binding.target.is_inside(loop.body()) || !(binding.target < name)) continue;
    if (!name.is_inside(binding.value)) value = binding.value;
  }
  return value ? left_the_device(value, loop, depth + 1) : Expr();
}

// The `.cpu()` in this iteration of the loop that a value comes from, by arithmetic alone.
Expr left_the_device(const Expr& value, const Loop& loop, int depth) {
  if (depth > kSteps) return {};
  if (value.is(Kind::name)) return left_by_name(value, loop, depth);
  const Call call = value.as_call();
  if (!call) return {};
  if (call.method() == "cpu" && call.receiver().dotted().empty()) return call;
  if (call.receiver() && call.callee().dotted().empty()) {
    return left_the_device(call.receiver(), loop, depth + 1);
  }
  if (!is_arithmetic(call) || call.arguments().empty()) return {};
  return left_the_device(call.arguments().front(), loop, depth + 1);
}

bool changes_in(const Place& place, const Loop& loop) {
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const PlaceBinding& binding) { return binding.target.is_inside(loop); });
}

// A name that is the same in all iterations, or an attribute of one.
bool is_invariant(const Expr& moved, const Loop& loop) {
  const Place place = moved.place();
  if (!place || changes_in(place, loop)) return false;
  for (Place owner = place.owner(); owner; owner = owner.owner()) {
    if (changes_in(owner, loop)) return false;
  }
  return true;
}

Finding round_trip(const Call& move, const Expr& left) {
  Finding finding = move.finding(
      "In each iteration `" + std::string(left.as_call().receiver().text()) +
      "` goes to the host and comes back: the device waits, and both ends keep a copy. Do the "
      "arithmetic in between with torch, on the device.");
  finding.severity = Severity::warning;
  finding.timed_lines = {left.lines(), move.lines()};
  return finding;
}

Finding again(const Call& move) {
  const std::string name(move.receiver().text());
  const bool is_model = move.receiver().value().type == ValueType::module;
  Finding finding =
      move.finding("`" + name + "` does not change in this loop, and is moved in each iteration" +
                   (is_model ? ". Move it once, before the loop."
                             : ": one copy an iteration where it lies on the host. Move it once, "
                               "before the loop."));
  finding.timed_lines = {move.lines()};
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Call& move : code.calls_of({"cuda", "to"})) {
    if (!move.moves_to_device()) continue;
    const auto loops = move.loops();
    if (loops.empty()) continue;
    const Expr moved = move.receiver();
    if (const Expr left = left_the_device(moved, loops.front(), 0)) {
      findings.push_back(round_trip(move, left));
    } else if (is_invariant(moved, loops.front()) && !move.is_guarded()) {
      findings.push_back(again(move));
    }
  }
  return findings;
}

constexpr int kLeastPercent = 10;

std::string measured(const Holder& holder) {
  return "The same data goes between host and device in each iteration at " + holder.label + ": " +
         holder.largest + ". Move it once, before the loop, and stay on the device.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, timed_lines("device transfer", measured, kLeastPercent));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL605", "repeated_device_transfer", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::repeated_device_transfer
