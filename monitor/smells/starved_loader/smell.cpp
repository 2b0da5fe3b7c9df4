// The device waits while one process loads, and copies from pageable memory.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::starved_loader {
namespace {

using source::Bound;
using source::Kind;

bool is_loader(const Call& call) {
  return call.callee().is_dotted(
      {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"});
}

// Tensors in memory are as fast as they get.
bool is_in_memory(const Call& loader) {
  const Expr data = loader.argument("dataset", 0);
  const Call made = data.as_call() ? data.as_call() : data.made_by();
  return made && made.callee().is_dotted({"torch.utils.data.TensorDataset"});
}

bool has_options(const Call& loader) {
  for (const Expr& part : loader.children()) {
    // `DataLoader(data, **options)`
    if (part.is(Kind::starred) || part.is(Kind::other)) return true;
  }
  return false;
}

Call loader_of(const Expr& iterable) {
  if (const Call made = iterable.made_by(); made && is_loader(made)) return made;
  for (const Expr& argument : iterable.as_call().arguments()) {
    if (const Call made = loader_of(argument)) return made;
  }
  return {};
}

bool is_of_loop(const Place& place, const Loop& loop) {
  const auto bindings = place.bindings();
  return std::any_of(bindings.begin(), bindings.end(), [&](const PlaceBinding& binding) {
    return binding.how == Bound::loop && binding.target.is_inside(loop);
  });
}

Call move_in(const Loop& loop) {
  for (const Expr& spot : loop.body().all(Kind::call)) {
    const Call call = spot.as_call();
    if (call.moves_to_device() && is_of_loop(call.receiver().place(), loop)) return call;
  }
  return {};
}

Finding of_loader(const Call& loader) {
  Finding finding = loader.finding(
      "This loader prepares the batches in the process that drives the device, which waits "
      "meanwhile. Give it `num_workers` and `pin_memory=True`.");
  const auto last = loader.last_child();
  finding.fixes.push_back(
      {"Load beside the device", "", {last.followed_by(", num_workers=4, pin_memory=True")}});
  finding.fixes.back().safe = false;
  return finding;
}

Finding of_move(const Call& move, const Call& loader) {
  Finding finding = move.finding(
      "`non_blocking=True` copies no faster from memory that is not pinned: give the loader "
      "`pin_memory=True`.");
  const auto last = loader.last_child();
  finding.fixes.push_back({"Pin the memory", "", {last.followed_by(", pin_memory=True")}});
  finding.fixes.back().safe = false;
  return finding;
}

std::optional<Finding> of_loop(const Loop& loop) {
  const Call loader = loop.is(Kind::for_loop) ? loader_of(loop.iterable()) : Call();
  if (!loader || has_options(loader) || is_in_memory(loader)) return std::nullopt;
  const Call move = move_in(loop);
  if (!move) return std::nullopt;
  if (!loader.keyword("num_workers") && !loader.keyword("pin_memory")) return of_loader(loader);
  const bool is_pageable = move.keyword("non_blocking").is_true() && !loader.keyword("pin_memory");
  return is_pageable ? std::optional(of_move(move, loader)) : std::nullopt;
}

std::vector<Finding> in_source(const SourceView& code) {
  if (!code.uses("torch")) return {};
  if (code.calls_to({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
          .empty())
    return {};
  // One for the whole notebook: the others are made alike.
  std::vector<Finding> findings;
  for (const Loop& loop : code.loops()) {
    auto finding = of_loop(loop);
    if (!finding) continue;
    if (findings.empty()) findings.push_back(std::move(*finding));
    findings.front().timed_lines.push_back(loop.head());
  }
  return findings;
}

constexpr int kLeastPercent = 20;

std::string measured(const Holder& holder) {
  return "The device waits for the loader at " + holder.label + ": " + holder.largest +
         ". Give the loader `num_workers` and `pin_memory=True`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, timed_lines("loader wait", measured, kLeastPercent));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL610", "starved_loader", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::starved_loader
