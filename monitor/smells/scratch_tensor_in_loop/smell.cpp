// A tensor of constant shape that is made again in each iteration, at worst on the host and copied.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::scratch_tensor_in_loop {
namespace {

using source::Field;
using source::Kind;

// Smaller ones cost less than the line that would keep them.
constexpr long long kWorthKeeping = 65'536;

bool is_random(const Call& call) {
  return call.callee().is_dotted({"torch.rand", "torch.randn", "torch.randint", "torch.randperm",
                                  "torch.normal", "torch.rand_like", "torch.randn_like"});
}

// `torch.zeros(…).cuda()`, `torch.ones(…).to(device)`.
Call moved_by(const Call& factory) {
  const Expr attribute = factory.parent();
  const Call move = attribute.parent().as_call();
  const bool moves = move && move.receiver() == factory &&
                     (move.method() == "cuda" || move.method() == "to") &&
                     move.children().size() <= 2;
  return moves && !(move.method() == "to" && move.arguments().empty()) ? move : Call();
}

// `.to(device)`, `.to("cuda:0")`, `.cuda()`; `.to(other)` and `.to(torch.half)` are no places.
bool names_device(const Call& move) {
  if (move.arguments().empty()) return true;
  const Expr where = move.arguments().front();
  if (where.is(Kind::string)) return where.string().substr(0, 4) == "cuda";
  const std::string_view name = where.name();
  return name.find("dev") != std::string_view::npos || name.find("gpu") != std::string_view::npos;
}

// What it is made of is bound outside of the loop.
bool is_invariant(const Expr& argument, const Loop& loop) {
  if (argument.is(Kind::call)) return false;
  for (const Expr& name : argument.all(Kind::name)) {
    for (const PlaceBinding& binding : name.place().bindings()) {
      if (binding.target.is_inside(loop)) return false;
    }
  }
  return argument.all(Kind::call).empty() && argument.all(Kind::subscript).empty() &&
         argument.all(Kind::attribute).empty();
}

bool has_constant_shape(const Call& factory, const Loop& loop) {
  const auto arguments = factory.arguments();
  return !arguments.empty() &&
         std::all_of(arguments.begin(), arguments.end(),
                     [&](const Expr& one) { return is_invariant(one, loop); });
}

// Empty where the source does not say it.
std::optional<long long> elements_of(const Expr& shape) {
  if (!shape.is(Kind::tuple) && !shape.is(Kind::list)) return shape.integer();
  long long product = 1;
  for (const Expr& size : shape.children()) {
    const auto factor = size.integer();
    if (!factor || *factor <= 0) return std::nullopt;
    product = std::min(kWorthKeeping, product * std::min(kWorthKeeping, *factor));
  }
  return product;
}

std::optional<long long> elements_of(const Call& factory) {
  const auto arguments = factory.arguments();
  const bool has_value = factory.callee().name() == "full";
  if (arguments.empty()) return std::nullopt;
  long long product = 1;
  for (const Expr& argument : arguments) {
    const auto factor = elements_of(argument);
    if (!factor || *factor <= 0) return std::nullopt;
    product = std::min(kWorthKeeping, product * std::min(kWorthKeeping, *factor));
    if (has_value) break;
  }
  return product;
}

bool is_small(const Call& factory) {
  const auto elements = elements_of(factory);
  return elements && *elements < kWorthKeeping;
}

bool is_large(const Call& factory) { return elements_of(factory) && !is_small(factory); }

// `parts.append(torch.zeros(n))`, `nn.Parameter(torch.empty(n))`.
bool is_kept_by(const Call& call) {
  const std::string_view name = call.callee().name();
  return name == "append" || (!name.empty() && name.front() >= 'A' && name.front() <= 'Z');
}

// It is put somewhere, returned, or changed and kept under its name.
bool is_kept(const SourceView& code, const Expr& made) {
  const Expr above = made.parent();
  if (above.is(Kind::return_statement) || above.is(Kind::yield)) return true;
  const Expr target = above.is(Kind::assign) ? above.child(Field::left) : Expr();
  if (!target) return is_kept_by(above.as_call());
  if (!target.is(Kind::name)) return true;
  for (const Update& update : code.updates()) {
    if (update.target.place() == target.place()) return true;
  }
  for (const Store& store : code.stores()) {
    if (store.value.mentions(target.place())) return true;
  }
  for (const Expr& use : target.place().uses()) {
    if (use.parent().is(Kind::return_statement)) return true;
  }
  return false;
}

Finding of_move(const Call& factory, const Call& move) {
  const Expr device = move.method() == "cuda" ? Expr() : move.arguments().front();
  const std::string where = device ? std::string(device.text()) : "\"cuda\"";
  Finding finding = factory.finding("`" + std::string(factory.callee().text()) +
                                    "` is filled on the host and copied to the device" +
                                    (factory.is_guarded() ? "" : " in each iteration") +
                                    ". Make it there: `device=" + where + "`.");
  // What a few iterations make costs little.
  const bool in_each_iteration = !factory.is_guarded();
  finding.severity = is_large(factory) && in_each_iteration ? Severity::warning : Severity::note;
  // A generator draws on its own device alone.
  if (factory.keyword("generator")) return finding;
  const std::string inside(factory.text().substr(0, factory.text().size() - 1));
  finding.fixes.push_back({"Make it on the device",
                           "",
                           {move.replaced_by(inside + ", device=" + where + ")")},
                           // Devices draw other random numbers than the host.
                           !is_random(factory)});
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy")) return findings;
  for (const Call& factory :
       code.calls_to({"torch.zeros", "torch.ones", "torch.empty", "torch.full", "torch.eye",
                      "torch.arange", "torch.rand", "torch.randn", "torch.randint", "numpy.zeros",
                      "numpy.ones", "numpy.empty", "numpy.full", "numpy.eye", "numpy.arange"})) {
    const auto loops = factory.loops();
    if (loops.empty() || loops.front().is(Kind::comprehension) || is_small(factory)) continue;
    const Call move = moved_by(factory);
    if (move && !factory.keyword("device") && factory.text().back() == ')' && names_device(move)) {
      findings.push_back(of_move(factory, move));
      continue;
    }
    if (is_random(factory) || factory.is_guarded() || loops.front().is_over_parts()) continue;
    if (!has_constant_shape(factory, loops.front()) || is_kept(code, factory)) continue;
    findings.push_back(factory.finding(
        "`" + std::string(factory.text().substr(0, 60)) +
        "` is the same in each iteration. Make it before the loop, and reset it with `.zero_()` or "
        "`.fill_()`."));
  }
  return findings;
}

// What was made was freed again: nothing is kept.
constexpr std::int64_t kNothingKept = 0;

std::string measured(const Holder& holder) {
  return holder.label + " stands in a loop, and " + std::to_string(holder.count) +
         " blocks of its " + holder.largest + " came and went while the cell ran, " +
         human(holder.held_bytes) +
         " together. Make it before the loop, and reset it with `.zero_()` or `.fill_()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"scratch", "", measured, 0, kNothingKept});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL114", "scratch_tensor_in_loop", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::scratch_tensor_in_loop
