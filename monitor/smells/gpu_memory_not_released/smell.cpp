// Blocks that torch's cache keeps on a device long after the tensors in them died.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <string>

#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::gpu_memory_not_released {
namespace {

// Less is what a session that goes on needs again in a moment.
constexpr std::int64_t kManyBytes = std::int64_t{256} << 20;
// A cell that draws or prints between two steps of a training gives nothing to judge.
constexpr int kIdleCells = 3;
// Where more of what is reserved is in use, the cache is at work.
constexpr double kLeftOver = 0.05;

// What empty_cache() gives back: segments that are wholly free.
std::int64_t cached_bytes(const DeviceState& device) {
  if (!device.allocated_bytes || !device.reserved_bytes || !device.inactive_split_bytes) return 0;
  return *device.reserved_bytes - *device.allocated_bytes - *device.inactive_split_bytes;
}

bool is_leak(const DeviceState& device) {
  const std::int64_t cached = cached_bytes(device);
  if (cached < kManyBytes || device.idle_cells < kIdleCells) return false;
  return static_cast<double>(*device.allocated_bytes) <=
         kLeftOver * static_cast<double>(*device.reserved_bytes);
}

Finding finding_of(const DeviceState& device, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.bytes = cached_bytes(device);
  finding.holders = {"torch's cache on " + device.device};
  finding.path = finding.holders;
  finding.message = "torch's cache keeps " + human(*finding.bytes) + " on " + device.device +
                    " though nearly all tensors there are gone and " +
                    std::to_string(device.idle_cells) +
                    " cells asked for none. No other process can have it. Give it back with "
                    "`%release_cache --caches` or torch's empty_cache().";
  finding.fixes = {{"Empty the cache", "%release_cache --caches"}};
  finding.key = "cache of " + device.device;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const DeviceState& device : session.devices) {
    if (is_leak(device)) findings.push_back(finding_of(device, session));
  }
  return findings;
}

using source::Bound;
using source::Kind;

bool is_on_device(const PlaceBinding& binding) {
  if (binding.how != Bound::assign || binding.position >= 0) return false;
  const Value value = binding.value.value();
  if (value.type == ValueType::module) return false;
  const Call call = binding.value.as_call();
  return (value.is_tensor() && value.on_device) || (call && call.moves_to_device());
}

bool is_used_behind(const Place& place, const Expr& loop) {
  const auto is_behind = [&](const Expr& spot) { return loop < spot && !spot.is_inside(loop); };
  const auto uses = place.uses();
  if (std::any_of(uses.begin(), uses.end(), is_behind)) return true;
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const PlaceBinding& binding) { return is_behind(binding.target); });
}

// `x = step(x)`, begun before the loop, is what the loop is there for.
bool is_result_of(const Loop& loop, const Place& place) {
  bool is_begun_before = false;
  bool is_carried = false;
  for (const PlaceBinding& binding : place.bindings()) {
    is_begun_before |= binding.target < loop;
    is_carried |= binding.target.is_inside(loop) && binding.value.mentions(place);
  }
  return is_begun_before && is_carried;
}

bool is_deleted_in(const Loop& loop, const Place& place) {
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(), [&](const PlaceBinding& binding) {
    return binding.how == Bound::deleted && binding.target.is_inside(loop);
  });
}

// Names that the loop leaves behind with tensors on the device, each once.
std::vector<std::string> left_by(const Loop& loop) {
  std::vector<std::string> names;
  for (const Expr& statement : loop.body().all(Kind::assign)) {
    const Expr target = statement.child(source::Field::left);
    const Place place = target.place();
    if (!target.is(Kind::name) || !place.is_module_level() || is_used_behind(place, loop)) continue;
    const auto bindings = place.bindings();
    if (std::none_of(bindings.begin(), bindings.end(), is_on_device)) continue;
    if (is_result_of(loop, place) || is_deleted_in(loop, place)) continue;
    const std::string name(place.name());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.is_notebook() || !code.uses("torch")) return findings;
  for (const Loop& loop : code.loops()) {
    if (!loop.is(Kind::for_loop) || !loop.at_top_level() || !loop.loops().empty()) continue;
    const auto names = left_by(loop);
    if (names.empty()) continue;
    Finding finding =
        loop.finding("`" + listed(names) +
                     "` still has a tensor of the last iteration on the device: names of the top "
                     "level outlive the loop. Put it into a function, or delete what it leaves.");
    if (const auto edit = loop.line_after("del " + listed(names))) {
      finding.fixes.push_back({"Delete them behind the loop", "", {*edit}});
      finding.fixes.back().safe = false;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL601", "gpu_memory_not_released", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::gpu_memory_not_released
