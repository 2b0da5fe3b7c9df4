// Activations grow with the batch, and the batch is larger than a device usually holds.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "device_cells.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::oversized_batch {
namespace {

const Holder* holder_on(const SessionView& session, const char* kind, const DeviceState& device) {
  for (const Holder& holder : session.holders) {
    if (holder.kind == kind && holder.largest == device.device) return &holder;
  }
  return nullptr;
}

Finding finding_on(const DeviceState& device, const SessionView& session, std::string message) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = device.last_used->cell;
  finding.holders = {"a pass on " + device.device};
  finding.path = finding.holders;
  finding.message = std::move(message) +
                    " Take fewer samples at a time and step after several batches, or use "
                    "`torch.autocast`.";
  finding.key = "batch on " + device.device;
  return finding;
}

// What the pass asked for last did not fit, and is no part of the peak.
std::optional<Finding> ran_out(const DeviceState& device, const Holder& weights,
                               const SessionView& session) {
  const Holder* failed = holder_on(session, "out of memory in a pass", device);
  if (failed == nullptr || !used_last(device, failed->since_cell)) return std::nullopt;
  const auto& [cell, before, peak, after] = *device.last_used;
  if (!before || !peak) return std::nullopt;
  const std::int64_t needed = *peak + failed->held_bytes;
  const std::int64_t steady = std::max(*before, weights.held_bytes);
  if (!is_mostly_passing(device, needed, needed - steady)) return std::nullopt;
  Finding finding =
      finding_on(device, session,
                 "The " + failed->label + " ran out of memory on " + device.device + ": it had " +
                     human(*peak) + " of " + human(*device.total_bytes) + " and asked for " +
                     human(failed->held_bytes) + " more, and " + human(steady) +
                     " were there whatever the batch.");
  finding.severity = Severity::warning;
  return finding;
}

// A backward pass that fits leaves nothing of its activations: the peak alone tells of them.
std::optional<Finding> came_near(const DeviceState& device, const Holder& weights,
                                 const SessionView& session) {
  if (!used_last(device, weights.since_cell) || !device.last_used->peak_bytes) return std::nullopt;
  // Where the network is gone, its weights may be what passed.
  if (weights.held_bytes <= 0) return std::nullopt;
  // Gradients and what an optimizer keeps for each weight come and go with them.
  constexpr std::int64_t kPerWeight = 4;
  const std::int64_t passing = passing_bytes(device, kPerWeight * weights.held_bytes);
  const std::int64_t peak = *device.last_used->peak_bytes;
  if (!is_mostly_passing(device, peak, passing)) return std::nullopt;
  return finding_on(device, session,
                    "Training had " + share_of(device, peak) + " at its peak, " + human(passing) +
                        " of it only in passing: activations, which grow with the batch.");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const DeviceState& device : session.devices) {
    const Holder* weights = holder_on(session, "weights", device);
    if (weights == nullptr) continue;
    auto finding = ran_out(device, *weights, session);
    if (!finding) finding = came_near(device, *weights, session);
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}

using source::Kind;

// Pictures of a thousand at a time fill a device whatever the network.
constexpr long long kManySamples = 1024;
// A float takes 4 bytes; from a gibibyte on a tensor is worth a word.
constexpr double kItemBytes = 4;
constexpr double kLargeBytes = 1LL << 30;
// Pictures have channels, height and width beside the batch.
constexpr std::size_t kDimensionsOfPictures = 4;

List<Call> picture_models(const SourceView& code) {
  return code.calls_to(
      {"torch.nn.Conv2d", "torch.nn.Conv3d", "torch.nn.MultiheadAttention",
       "torch.nn.TransformerEncoder", "torchvision.models.resnet18", "torchvision.models.resnet34",
       "torchvision.models.resnet50", "torchvision.models.resnet101",
       "torchvision.models.resnet152", "torchvision.models.vgg16", "torchvision.models.densenet121",
       "torchvision.models.efficientnet_b0", "torchvision.models.vit_b_16", "timm.create_model"});
}

bool has_large_model(const SourceView& code) {
  if (!picture_models(code).empty()) return true;
  const auto pretrained = code.calls_of({"from_pretrained"});
  return std::any_of(pretrained.begin(), pretrained.end(),
                     [](const Call& call) { return call.value().type == ValueType::module; });
}

// Their pictures have a thousand numbers or three.
bool has_small_pictures(const SourceView& code) {
  return !code.calls_to({"torchvision.datasets.MNIST", "torchvision.datasets.FashionMNIST",
                         "torchvision.datasets.KMNIST", "torchvision.datasets.EMNIST",
                         "torchvision.datasets.CIFAR10", "torchvision.datasets.CIFAR100",
                         "torchvision.datasets.SVHN"})
              .empty();
}

void add_loaders(const SourceView& code, std::vector<Finding>& findings) {
  const auto loaders = code.calls_to({"torch.utils.data.DataLoader"});
  if (loaders.empty() || !has_large_model(code) || has_small_pictures(code)) return;
  for (const Call& loader : loaders) {
    const Expr size = loader.argument("batch_size", 1);
    if (size.integer().value_or(0) < kManySamples) continue;
    findings.push_back(size.finding(
        "Activations grow with the batch: " + std::string(size.text()) +
        " samples of a network like this need more than most devices have. Take fewer, and step "
        "after several batches for the same effect."));
  }
}

void add_tensors(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call :
       code.calls_to({"torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.empty"})) {
    auto sizes = call.arguments();
    if (sizes.size() == 1 && (sizes[0].is(Kind::tuple) || sizes[0].is(Kind::list)))
      sizes = sizes[0].children();
    if (sizes.size() < kDimensionsOfPictures) continue;
    double bytes = kItemBytes;
    for (const Expr& size : sizes) bytes *= static_cast<double>(size.integer().value_or(0));
    if (bytes < kLargeBytes) continue;
    findings.push_back(
        call.finding("This tensor alone takes a GiB or more, and a network makes several of its "
                     "size. Go through "
                     "it in parts."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  add_loaders(code, findings);
  add_tensors(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL603", "oversized_batch", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::oversized_batch
