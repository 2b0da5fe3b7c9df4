// DataParallel gathers on one device; what it is compared with lies elsewhere.
#include <algorithm>
#include <string>

#include "device_cells.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::dataparallel_target_device {
namespace {

// As guides have it: the first device has half as much again as the others.
constexpr double kLopsided = 1.5;
// Of what the device has; less is the rounding of small networks.
constexpr double kWorthMentioning = 0.02;

// The peaks of one cell over the devices that a DataParallel spreads it over.
struct Spread {
  std::int64_t others = 0;
  std::int64_t others_peak_bytes = 0;
  std::int64_t others_passing_bytes = 0;
};

std::string kind_of(const std::string& device) { return device.substr(0, device.find(':')); }

Spread spread_of(const SessionView& session, const DeviceState& first) {
  Spread spread;
  for (const DeviceState& device : session.devices) {
    const bool is_other =
        device.device != first.device && kind_of(device.device) == kind_of(first.device);
    if (!is_other || !used_last(device, first.last_used->cell)) continue;
    const std::int64_t passing = passing_bytes(device, 0);
    if (passing <= 0) continue;
    ++spread.others;
    spread.others_peak_bytes += *device.last_used->peak_bytes;
    spread.others_passing_bytes += passing;
  }
  return spread;
}

// The optimizer's state belongs on the first device; what only passes is what was gathered there.
bool is_lopsided(const DeviceState& first, const Spread& spread) {
  const auto others = static_cast<double>(spread.others);
  const auto peak = static_cast<double>(*first.last_used->peak_bytes);
  const auto passing = static_cast<double>(passing_bytes(first, 0));
  const double other_peak = static_cast<double>(spread.others_peak_bytes) / others;
  const double other_passing = static_cast<double>(spread.others_passing_bytes) / others;
  return peak >= kLopsided * other_peak && passing >= kLopsided * other_passing &&
         peak - other_peak >= kWorthMentioning * static_cast<double>(*first.total_bytes);
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& parallel : session.holders) {
    if (parallel.kind != "data parallel") continue;
    const DeviceState* first = find_device(session, parallel.largest);
    if (first == nullptr || !first->total_bytes || passing_bytes(*first, 0) <= 0) continue;
    const Spread spread = spread_of(session, *first);
    // On fewer devices another part of the cell may have run.
    if (spread.others != parallel.count - 1 || !is_lopsided(*first, spread)) continue;
    Finding finding;
    finding.cell = session.cell;
    finding.cause_cell = first->last_used->cell;
    finding.holders = {parallel.label};
    finding.path = {parallel.label, first->device};
    finding.message = "At its peak the cell had " + human(*first->last_used->peak_bytes) + " on " +
                      first->device + " and " + human(spread.others_peak_bytes / spread.others) +
                      " on each other device of `" + parallel.label +
                      "`: its outputs are gathered there, and the loss with them. Compute the loss "
                      "inside of the module, or use `DistributedDataParallel`.";
    finding.key = "spread of " + parallel.label;
    findings.push_back(std::move(finding));
  }
  return findings;
}

using source::Bound;
using source::Kind;

// With it goes what it is a part of: `model.cuda()` moves `model.features`.
bool is_moved(Place place) {
  for (; place; place = place.owner()) {
    for (const Call& call : place.calls_of({"to", "cuda"})) {
      if (call.moves_to_device()) return true;
    }
  }
  return false;
}

bool moves_inside(const Expr& value) {
  for (const Expr& spot : value.all(Kind::call)) {
    if (spot.as_call().moves_to_device()) return true;
  }
  return false;
}

// `net = Net().cuda()` before, or `multi.to(device)` behind.
bool reaches_device(const Call& wrapper) {
  const Expr model = wrapper.argument("module", 0);
  for (Expr above = wrapper; above && !above.is(Kind::block) && !above.is(Kind::cell);
       above = above.parent()) {
    if (above.as_call().moves_to_device()) return true;
  }
  if (moves_inside(model) || is_moved(model.place()) || is_moved(wrapper.target().place()))
    return true;
  for (const PlaceBinding& binding : model.place().bindings()) {
    const bool by_function = !binding.value.as_call().callees().empty();
    if (binding.how != Bound::assign || by_function || moves_inside(binding.value)) return true;
  }
  return false;
}

List<Call> moves_of(const SourceView& code) {
  List<Call> moves;
  for (const Call& call : code.calls_of({"cuda", "to"})) {
    if (call.moves_to_device()) moves.push_back(call);
  }
  return moves;
}

// `self.features = DataParallel(…)` goes with the object, moved by itself or by who made it.
bool moves_object_around(const Call& move, const Call& wrapper) {
  const Expr around = wrapper.class_definition();
  if (!around) return false;
  if (move.receiver().place() == wrapper.self() && wrapper.self()) return true;
  const Call made = move.receiver().made_by();
  const auto constructors = around.constructors();
  return made && std::find(constructors.begin(), constructors.end(), made) != constructors.end();
}

// In a function that is handed the model, or by the name that it has elsewhere.
bool is_moved_elsewhere(const List<Call>& moves, const Call& wrapper) {
  const Expr model = wrapper.argument("module", 0);
  return std::any_of(moves.begin(), moves.end(), [&](const Call& move) {
    const Expr moved = move.receiver();
    const Call made = moved.made_by();
    return (made && (made == wrapper || made == model.made_by())) ||
           moves_object_around(move, wrapper) ||
           (moved.name() == model.name() && !model.name().empty()) || moved.name() == "module" ||
           (moved.name() == wrapper.target().name() && !moved.name().empty());
  });
}

// The module is made in this program, so a move of it would be seen.
bool is_made_here(const Expr& model) {
  const Call made = model.as_call() ? model.as_call() : model.made_by();
  return made && made.value().type == ValueType::module;
}

void add_unmoved(const SourceView& code, const Call& wrapper, std::vector<Finding>& findings) {
  const Expr model = wrapper.argument("module", 0);
  const auto moves = moves_of(code);
  if (!is_made_here(model) || moves.empty()) return;
  if (reaches_device(wrapper) || is_moved_elsewhere(moves, wrapper)) return;
  findings.push_back(wrapper.finding(
      "`" + std::string(model.text()) +
      "` was never moved: `DataParallel` expects its parameters on the first device. Write "
      "`.to(device)` behind it."));
}

bool is_parallel(const Expr& callee) {
  return callee.made_by().callee().is_dotted(
      {"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"});
}

bool is_output(const Expr& value) {
  const Call made = value.as_call() ? value.as_call() : value.made_by();
  return made && is_parallel(made.callee());
}

bool is_bound_by(const Place& place, const Loop& loop) {
  const auto bindings = place.bindings();
  return bindings.size() == 1 && bindings.front().how == Bound::loop &&
         bindings.front().target.is_inside(loop);
}

// `criterion(multi(img.to(device)), lab)`: the target stays where the loader made it.
void add_targets(const Loop& loop, std::vector<Finding>& findings) {
  bool moves = false;
  for (const Expr& spot : loop.body().all(Kind::call)) moves |= spot.as_call().moves_to_device();
  if (!moves) return;
  for (const Expr& spot : loop.body().all(Kind::call)) {
    const Call call = spot.as_call();
    const auto around = call.loops();
    if (!call.value().loss || around.empty() || around.front() != loop) continue;
    const Expr target = call.argument("target", 1);
    if (!is_output(call.argument("input", 0)) || !is_bound_by(target.place(), loop)) continue;
    if (is_moved(target.place())) continue;
    findings.push_back(target.finding(
        "`" + std::string(target.text()) +
        "` is still on the host, and the outputs of `DataParallel` are on the first device: move "
        "it there with the inputs."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const auto wrappers = code.calls_to({"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"});
  if (wrappers.empty()) return findings;
  for (const Call& wrapper : wrappers) add_unmoved(code, wrapper, findings);
  for (const Loop& loop : code.loops()) {
    if (loop.is(Kind::for_loop)) add_targets(loop, findings);
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL608", "dataparallel_target_device", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::dataparallel_target_device
