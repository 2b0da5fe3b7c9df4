// A replay memory whose tensors keep their graphs, or memory of a device.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::tensor_in_replay_buffer {
namespace {

// The memory is meant to be large.
constexpr int kManyEntries = 100;

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " entries of " + holder.label + " hold " + holder.largest +
         " and keep " + human(holder.held_bytes) + " alive, " +
         human(holder.held_bytes / holder.count) + " each. Free them with `" + holder.release +
         "`; store `.detach().cpu()`, or act under `torch.no_grad()`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const auto of_kind = [&session](const char* kind) {
    return holder_findings(session, {kind, "Empty the memory", message, kManyEntries - 1});
  };
  auto findings = of_kind("replay memory");
  // It will be full one day.
  for (Finding& bounded : of_kind("large replay memory")) {
    bounded.severity = Severity::warning;
    findings.push_back(std::move(bounded));
  }
  return findings;
}

// A window of this many steps is small whatever it holds; beyond the larger bound it is a memory.
constexpr long long kWindow = 64;
constexpr long long kLarge = 1'000;

// The text of an expression in a message ends here.
constexpr std::size_t kShown = 60;

std::optional<long long> capacity(const Store& store) {
  const Call made = store.container.made_by();
  if (!made.callee().is_dotted({"collections.deque"})) return std::nullopt;
  return made.argument("maxlen", 1).integer();
}

// What is emptied after each update may need its graphs there.
bool is_for_one_update(const SourceView& code, const Store& store) {
  const Place memory = store.container.root().place();
  return code.reaches_backward(memory) || !memory.calls_of({"clear", "reset", "pop"}).empty();
}

// `device` may be the host as well.
bool is_surely_on_device(const Expr& value) {
  if (value.text().find("cuda") != std::string_view::npos) return true;
  for (const PlaceBinding& binding : value.place().bindings()) {
    if (binding.value.text().find("cuda") != std::string_view::npos) return true;
  }
  return false;
}

Finding told(const SourceView& code, const Store& store, bool has_graph) {
  const std::string value = "`" + std::string(store.value.text().substr(0, kShown)) + "`";
  Finding finding = store.value.finding(
      value + " goes into the memory `" + std::string(store.container.text()) + "` " +
      (has_graph ? "with its graph: each step keeps a whole forward pass. Store "
                   "`.detach().cpu()` of it."
                 : "as a block of the device: the memory of the accelerator fills up. Store "
                   "`.cpu()` of it."));
  if (has_graph) {
    if (const auto edit = code.detached(store))
      finding.fixes.push_back({"Store it without its graph", "", {*edit}});
  }
  return finding;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Store& store : code.stores()) {
    const Value value = store.value.value();
    // A history of losses is one, whatever it is called (XL102).
    if (value.loss || !value.is_tensor() || (!value.is_gradful() && !value.on_device)) continue;
    if (store.index || !code.is_replay_memory(store) || !store.value.in_loop()) continue;
    const auto size = capacity(store);
    if ((size && *size <= kWindow) || is_for_one_update(code, store)) continue;
    if (!code.is_long_lived(store) && !size) continue;
    Finding finding = told(code, store, value.is_gradful());
    const bool is_bounded = (size && *size > kLarge) || code.is_bounded(store);
    if (!value.is_gradful()) {
      finding.severity = is_surely_on_device(store.value) ? Severity::warning : Severity::note;
    } else {
      finding.severity = is_bounded ? Severity::warning : Severity::error;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL104", "tensor_in_replay_buffer", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::tensor_in_replay_buffer
