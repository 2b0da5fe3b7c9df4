#include "source/names.hpp"

namespace xleak::monitor::source {
namespace {

struct Spelling {
  std::string_view written;
  std::string_view meant;
};

// One module under several names; rules know the last column only.
constexpr Spelling kSpellings[] = {
    {"tensorflow.keras", "keras"},
    {"tensorflow.python.keras", "keras"},
    {"tf_keras", "keras"},
    {"tensorflow.compat.v1", "tensorflow"},
    {"tensorflow.compat.v2", "tensorflow"},
    {"keras.utils.clear_session", "keras.backend.clear_session"},
    {"keras.src", "keras"},
    {"keras.layers.core.Lambda", "keras.layers.Lambda"},
    {"keras.api", "keras"},
    {"torch.autograd.grad_mode", "torch"},
    {"torch.autograd.no_grad", "torch.no_grad"},
    {"torch.autograd.enable_grad", "torch.enable_grad"},
    {"torch.autograd.set_grad_enabled", "torch.set_grad_enabled"},
    {"torch.autograd.inference_mode", "torch.inference_mode"},
    {"torch.concat", "torch.cat"},
    {"torch.concatenate", "torch.cat"},
    {"torch.utils.data.dataloader", "torch.utils.data"},
    {"torch.nn.modules", "torch.nn"},
    {"torch.autograd.function.Function", "torch.autograd.Function"},
    {"torch.cuda.amp.GradScaler", "torch.amp.GradScaler"},
    {"torch.cuda.amp.autocast", "torch.autocast"},
    {"torch.amp.autocast", "torch.autocast"},
    {"torch.autograd.anomaly_mode", "torch.autograd"},
    {"torch.nn.parallel.DataParallel", "torch.nn.DataParallel"},
    {"torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"},
    {"torch.cuda.memory", "torch.cuda"},
    {"pytorch_lightning", "lightning"},
    {"lightning.pytorch", "lightning"},
    {"matplotlib.pylab", "matplotlib.pyplot"},
};

}  // namespace

Names::Names() : texts_{{}}, dotted_{{}} {}

NameId Names::identifier(std::string_view text) {
  if (text.empty()) return 0;
  const auto [at, is_new] = ids_.try_emplace(text, static_cast<NameId>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return at->second;
}

NameId Names::known(std::string_view text) const {
  const auto at = ids_.find(text);
  return at == ids_.end() ? 0 : at->second;
}

DottedId Names::dotted(DottedId parent, NameId name) {
  const std::uint64_t key = (static_cast<std::uint64_t>(parent) << 32) | name;
  const auto at = joined_.find(key);
  if (at != joined_.end()) return at->second;
  std::string text = dotted_[parent];
  if (!text.empty()) text += '.';
  text += texts_[name];
  for (const Spelling& spelling : kSpellings) {
    if (text == spelling.written) text = spelling.meant;
  }
  const auto [found, is_new] = dotted_ids_.try_emplace(text, static_cast<DottedId>(dotted_.size()));
  if (is_new) dotted_.push_back(text);
  joined_.emplace(key, found->second);
  return found->second;
}

DottedId Names::known_dotted(std::string_view text) const {
  const auto at = dotted_ids_.find(std::string(text));
  return at == dotted_ids_.end() ? 0 : at->second;
}

}  // namespace xleak::monitor::source
