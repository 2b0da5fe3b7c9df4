// A layer that is made in each forward pass has new weights each time, and no optimizer trains it.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::submodule_rebuilt_in_forward {
namespace {

bool is_false_argument(const Call& call, std::string_view name) {
  return call.keyword(name).is_false();
}

// Layers of torch.nn that own weights.
bool is_weighted_layer(const Call& call) {
  constexpr std::string_view kPackage = "torch.nn.";
  static constexpr std::string_view kWeighted[] = {
      "Linear",      "Bilinear",           "Conv",         "ConvTranspose", "LSTM",      "GRU",
      "RNN",         "Embedding",          "BatchNorm",    "LayerNorm",     "GroupNorm", "RMSNorm",
      "Transformer", "MultiheadAttention", "LSTMCell",     "GRUCell",       "RNNCell",   "PReLU",
      "LazyLinear",  "LazyConv",           "SyncBatchNorm"};
  const std::string_view dotted = call.callee().dotted();
  if (dotted.substr(0, kPackage.size()) != kPackage) return false;
  std::string_view name = dotted.substr(kPackage.size());
  if (name.find('.') != std::string_view::npos) return false;
  if (name.size() > 2 && name.back() == 'd' && name[name.size() - 2] <= '3') {
    name.remove_suffix(2);
  }
  const bool is_known = std::any_of(std::begin(kWeighted), std::end(kWeighted),
                                    [&](std::string_view known) { return name == known; }) ||
                        name.substr(0, 11) == "Transformer";
  return is_known && !is_false_argument(call, "affine") &&
         !is_false_argument(call, "elementwise_affine");
}

bool owns_weights(const SourceView& code, const Expr& class_definition) {
  if (!code.is_module_class(class_definition)) return false;
  for (const Expr& expression : class_definition.all(source::Kind::call)) {
    const Call call = expression.as_call();
    if (call.function().name() == "__init__" &&
        (is_weighted_layer(call) || call.callee().is_dotted({"torch.nn.Parameter"}))) {
      return true;
    }
  }
  return false;
}

bool makes_weights(const SourceView& code, const Call& call) {
  if (is_weighted_layer(call)) return true;
  for (const PlaceBinding& binding : call.callee().place().bindings()) {
    if (binding.how == source::Bound::class_definition && owns_weights(code, binding.target)) {
      return true;
    }
  }
  return false;
}

bool is_builder(std::string_view name) {
  static constexpr std::string_view kWords[] = {"build", "make",   "reset",
                                                "init",  "create", "setup"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// A method beside `forward` that puts a layer on its module decides itself whether to do so.
bool is_set_up(const Call& call) {
  const Expr target = call.assignment().child(source::Field::left);
  const std::string_view method = call.function().name();
  return target.is(source::Kind::attribute) && method != "forward" && method != "training_step";
}

// `if self.layers: return self.run(x)`, before the layers are made.
bool follows_early_return(const Call& call) {
  for (const Expr& statement : call.function().body().children()) {
    if (!(statement < call)) return false;
    if (!statement.is(source::Kind::if_branch)) continue;
    const bool asks =
        statement.child(source::Field::condition).text().find("self.") != std::string_view::npos;
    const auto returns = statement.child(source::Field::body).all(source::Kind::return_statement);
    if (asks && !returns.empty()) return true;
  }
  return false;
}

// Under a condition of its own, or in a loop under one: not in each pass.
bool is_conditional(const Call& call) {
  if (call.is_guarded() || follows_early_return(call)) return true;
  const auto loops = call.loops();
  return std::any_of(loops.begin(), loops.end(),
                     [](const Loop& loop) { return loop.is_guarded(); });
}

List<Call> constructors(const SourceView& code) {
  List<Call> result;
  for (const Call& call : code.calls()) {
    const std::string_view name = call.callee().name();
    const bool is_class = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
    if (is_class && call.function()) result.push_back(call);
  }
  return result;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  for (const Call& call : constructors(code)) {
    if (is_conditional(call) || is_builder(call.function().name())) continue;
    if (is_set_up(call)) continue;
    if (!code.runs_in_forward(call) || !makes_weights(code, call)) continue;
    Finding finding = call.finding(
        "`" + std::string(call.callee().text()) +
        "` is made again in each forward pass: its weights are random every time, no optimizer "
        "trains them, and the graph keeps them. Make it once in `__init__`.");
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) + " " + holder.largest +
         " layers that forward passes made, " + human(holder.held_bytes) +
         ": they are no part of the module, so no optimizer trains them. Free them with `" +
         holder.release + "` and make the layer once in `__init__`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"layers of forward passes", "Empty the container", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL112", "submodule_rebuilt_in_forward", Severity::warning, at_run_time,
                  in_source};

}  // namespace xleak::monitor::smells::submodule_rebuilt_in_forward
