// Activations grow with the batch, and the batch is larger than a device usually holds.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::oversized_batch {
namespace {

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
const Smell smell{"XL603", "oversized_batch", Severity::note, nullptr, in_source};

}  // namespace xleak::monitor::smells::oversized_batch
