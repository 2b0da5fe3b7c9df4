// A batch size that does not fit: too large for a network of pictures, or ignored.
#include <algorithm>

#include "device_cells.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::minibatch_mismatch {
namespace {

Finding finding_of(const SessionView& session, std::optional<int> cell, std::string message,
                   const std::string& on) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = cell;
  finding.holders = {on};
  finding.path = finding.holders;
  finding.message = std::move(message) + " Take a smaller batch, or mixed precision.";
  finding.key = on;
  return finding;
}

// The first size of what did not fit was the batch, so a smaller batch asks for less.
Finding ran_out(const Holder& failed, const SessionView& session) {
  Finding finding = finding_of(
      session, failed.since_cell,
      "A batch of " + std::to_string(failed.count) + " ran out of memory in " + failed.label +
          ": " + failed.largest + " takes " + human(failed.held_bytes) +
          " in one piece, each sample " + human(failed.held_bytes / failed.count) + " of it.",
      failed.label);
  finding.severity = Severity::warning;
  return finding;
}

std::optional<Finding> came_near(const Holder& fitted, const SessionView& session) {
  const DeviceState* device = find_device(session, fitted.largest);
  if (device == nullptr || !used_last(*device, fitted.since_cell)) return std::nullopt;
  const std::int64_t passing = passing_bytes(*device, 0);
  if (passing <= 0) return std::nullopt;
  const std::int64_t peak = *device->last_used->peak_bytes;
  if (!is_mostly_passing(*device, peak, passing)) return std::nullopt;
  return finding_of(session, fitted.since_cell,
                    "The cell had " + share_of(*device, peak) + " at its peak, " + human(passing) +
                        " of it only while its batches ran.",
                    "batches on " + device->device);
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    if (holder.kind == "keras batch out of memory" && holder.count > 0)
      findings.push_back(ran_out(holder, session));
    if (holder.kind != "keras batches") continue;
    if (auto finding = came_near(holder, session)) findings.push_back(std::move(*finding));
  }
  return findings;
}

using source::Kind;

// Activations of a convolutional network for so many pictures fill a device.
constexpr long long kLargeBatch = 1024;

bool is_convolution(const Call& call) {
  const std::string_view dotted = call.callee().dotted();
  return dotted.substr(0, 17) == "keras.layers.Conv" ||
         dotted.substr(0, 19) == "keras.applications.";
}

// The network is made of convolutions, in its constructor, by add(), or beside it.
bool is_convolutional(const SourceView& code, const Expr& model) {
  const Call made = model.made_by();
  if (!made) return false;
  const auto& calls = code.calls();
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.function() == made.function() && is_convolution(call);
  });
}

bool runs_on_tpu(const SourceView& code) {
  return !code.calls_to({"tensorflow.distribute.TPUStrategy",
                         "tensorflow.distribute.experimental.TPUStrategy",
                         "tensorflow.distribute.cluster_resolver.TPUClusterResolver"})
              .empty();
}

std::string without(const Call& call, const Expr& keyword) {
  std::string text(call.text());
  const std::string_view part = keyword.text();
  const std::size_t at = text.rfind(part);
  std::size_t start = text.find_last_not_of(" \n\t", at - 1);
  std::size_t stop = at + part.size();
  if (text[start] == ',') return text.erase(start, stop - start);
  start = at;
  stop = std::min(text.find_first_not_of(", \n\t", stop), text.size());
  return text.erase(start, stop - start);
}

Finding ignored(const Call& call, const Expr& size) {
  Finding finding = call.finding(
      "The dataset has its batches already: `batch_size` is ignored or refused. Say the size in "
      "`.batch()`.");
  finding.fixes.push_back(
      {"Drop the batch size", "", {call.replaced_by(without(call, size.parent()))}});
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!tensorflow::is_used(code)) return findings;
  for (const Call& call : code.calls_of({"fit", "evaluate", "predict"})) {
    const Expr size = call.keyword("batch_size");
    if (!size) continue;
    if (call.argument("x", 0).value().type == ValueType::dataset) {
      findings.push_back(ignored(call, size));
      continue;
    }
    const auto number = size.integer();
    if (!number || *number < kLargeBatch || runs_on_tpu(code)) continue;
    if (call.receiver().value().type != ValueType::keras_model) continue;
    if (!is_convolutional(code, call.receiver())) continue;
    findings.push_back(call.finding(
        "A batch of " + std::to_string(*number) +
        " pictures keeps all their activations at once: a peak that a device may not have. Try a "
        "smaller batch, or mixed precision."));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL514", "minibatch_mismatch", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::minibatch_mismatch
