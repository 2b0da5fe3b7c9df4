#include "ledger.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "device_use.hpp"

namespace xleak::monitor {
namespace {

// A small process of a large parent shows the parent's mark in getrusage until it is larger itself.
std::int64_t inherited_mark(Probes& probes) noexcept {
  const auto shown = probes.usage().max_resident_bytes;
  const auto own = probes.high_water_bytes();
  return own && shown > *own ? shown : 0;
}

std::optional<std::int64_t> difference(std::optional<std::int64_t> after,
                                       std::optional<std::int64_t> before) noexcept {
  return after && before ? std::optional(*after - *before) : std::nullopt;
}

}  // namespace

Ledger::Ledger(Probes& probes, std::function<void(std::int64_t)> sampled)
    : probes_(probes),
      heap_(probes),
      sampler_([&probes, told = std::move(sampled)] {
        const auto bytes = probes.resident_bytes();
        if (bytes && told) told(*bytes);
        return bytes;
      }),
      inherited_mark_bytes_(inherited_mark(probes)) {}

int Ledger::open(const CellIdentity& identity, const InterpreterReading& before) {
  CellRecord record;
  record.index = static_cast<int>(records_.size()) + 1;
  record.identity = identity;
  if (!previous_python_blocks_) remember_python(before);
  Before now;
  now.index = record.index;
  now.devices = before.devices;
  running_.reserve(running_.size() + 1);
  records_.push_back(std::move(record));
  start_sampler(now.index);
  now.resident_bytes = probes_.resident_bytes();
  now.heap = heap_.before_cell(now.resident_bytes);
  now.last_heap = heap_.last_reading();
  now.usage = probes_.usage();
  if (now.usage.max_resident_bytes <= inherited_mark_bytes_) {
    now.high_water_bytes = probes_.high_water_bytes();
  }
  probes_.births_belong_to(now.index);
  now.started = probes_.now();
  running_.push_back(std::move(now));
  return running_.back().index;
}

// Without a thread the peak is what was seen before and after.
void Ledger::start_sampler(int index) noexcept {
  try {
    sampler_.start(index);
  } catch (const std::exception&) {
  }
}

void Ledger::close(int index, CellStatus status, const std::optional<int>& execution_count,
                   const InterpreterReading& after) {
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [index](const Before& before) { return before.index == index; });
  if (at == running_.end()) return;
  CellRecord& record = records_[static_cast<std::size_t>(index) - 1];
  measure(record, *at);
  count_python(record, after);
  record.tensors = after.tensors;
  record.status = status;
  if (execution_count) record.identity.execution_count = execution_count;
  const auto devices = std::move(at->devices);
  // Of cells that overlap the youngest has the births.
  const bool has_births = at == running_.end() - 1;
  running_.erase(at);
  if (has_births) {
    record.blocks = probes_.block_use();
    probes_.births_belong_to(running_.empty() ? 0 : running_.back().index);
  }
  record.devices = device_use(devices, after.devices);
}

void Ledger::mark_own(int index) noexcept {
  if (index < 1 || static_cast<std::size_t>(index) > records_.size()) return;
  records_[static_cast<std::size_t>(index) - 1].is_own = true;
}

std::optional<LiveCell> Ledger::live(int index, double seconds, std::int64_t resident_bytes) const {
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [index](const Before& before) { return before.index == index; });
  if (at == running_.end() || !at->resident_bytes) return std::nullopt;
  const CellRecord& record = records_[static_cast<std::size_t>(index) - 1];
  return LiveCell{index, record.identity.cell_id, seconds, *at->resident_bytes, resident_bytes, {}};
}

std::optional<LiveCell> Ledger::running() const {
  const auto resident = running_.empty() ? std::nullopt : probes_.resident_bytes();
  if (!resident) return std::nullopt;
  const Before& youngest = running_.back();
  const double seconds = std::chrono::duration<double>(probes_.now() - youngest.started).count();
  return live(youngest.index, seconds, *resident);
}

CellChange Ledger::change_of(int index) const {
  if (index < 1 || static_cast<std::size_t>(index) > records_.size()) return {};
  const CellRecord& record = records_[static_cast<std::size_t>(index) - 1];
  CellChange change;
  if (record.is_own) {
    change.heap_is_known = true;
    return change;
  }
  change.heap_is_known = record.heap_kept_bytes.has_value();
  change.kept_bytes = record.heap_kept_bytes.value_or(0);
  change.moved_bytes = std::abs(change.kept_bytes);
  const auto moved = [&change](std::int64_t bytes) {
    change.moved_bytes = std::max(change.moved_bytes, std::abs(bytes));
  };
  const auto& after = record.resident_after_bytes;
  if (record.resident_before_bytes && after) moved(*after - *record.resident_before_bytes);
  for (const DeviceUse& device : record.devices) moved(device.allocated_kept_bytes.value_or(0));
  if (record.resident_peak_bytes && after)
    change.spike_bytes = *record.resident_peak_bytes - *after;
  return change;
}

void Ledger::measure(CellRecord& record, const Before& before) {
  // The time first, so that what follows is not the cell's.
  record.seconds = std::chrono::duration<double>(probes_.now() - before.started).count();
  const Usage usage = probes_.usage();
  record.cpu_seconds = usage.cpu_seconds - before.usage.cpu_seconds;
  record.minor_faults = usage.minor_faults - before.usage.minor_faults;
  record.major_faults = usage.major_faults - before.usage.major_faults;
  measure_resident(record, before, usage);
  const auto heap = heap_.after_cell(record.resident_after_bytes);
  if (heap && before.heap) record.heap_kept_bytes = heap->used_bytes - before.heap->used_bytes;
  if (heap) record.heap_free_bytes = heap->free_bytes;
  if (heap && before.last_heap) {
    record.small_heap_kept_bytes = difference(heap->small_bytes, before.last_heap->small_bytes);
  }
}

void Ledger::measure_resident(CellRecord& record, const Before& before, const Usage& usage) {
  const auto sampled = sampler_.stop(record.index);
  record.resident_before_bytes = before.resident_bytes;
  record.resident_after_bytes = probes_.resident_bytes();
  if (record.resident_before_bytes && record.resident_after_bytes) {
    record.resident_peak_bytes = std::max(
        {*record.resident_before_bytes, *record.resident_after_bytes, sampled.value_or(0)});
  }
  if (const auto mark = raised_mark(before, usage)) {
    record.peak_is_exact = true;
    record.resident_peak_bytes = std::max(*mark, record.resident_peak_bytes.value_or(0));
  }
}

std::optional<std::int64_t> Ledger::raised_mark(const Before& before, const Usage& usage) noexcept {
  const bool shown = usage.max_resident_bytes > before.usage.max_resident_bytes;
  if (!shown && !before.high_water_bytes) return std::nullopt;
  const auto mark = probes_.high_water_bytes();
  return shown || mark > before.high_water_bytes ? mark : std::nullopt;
}

void Ledger::count_python(CellRecord& record, const InterpreterReading& after) noexcept {
  if (!after.python_blocks) return;
  record.python_blocks_kept = difference(after.python_blocks, previous_python_blocks_);
  record.python_bytes_kept = difference(after.python_bytes, previous_python_bytes_);
  remember_python(after);
}

void Ledger::exclude_python_use(std::int64_t blocks, std::int64_t bytes) noexcept {
  if (previous_python_blocks_) *previous_python_blocks_ += blocks;
  if (previous_python_bytes_) *previous_python_bytes_ += bytes;
}

void Ledger::remember_python(const InterpreterReading& reading) noexcept {
  previous_python_blocks_ = reading.python_blocks;
  previous_python_bytes_ = reading.python_bytes;
}

}  // namespace xleak::monitor
