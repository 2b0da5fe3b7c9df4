// A tensor attribute of a module stays where it was made when the module moves.
#include "xleak/monitor/smell.hpp"

#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::mixed_devices {
namespace {

using source::Field;
using source::Kind;

bool is_module(const SourceView& code, const Expr& class_definition) {
  return code.is_derived(
      class_definition, {"torch.nn.Module", "torch.nn.Sequential", "lightning.LightningModule",
                         "pytorch_lightning.LightningModule", "lightning.pytorch.LightningModule"});
}

// Tensors without a dimension mix with those of a device.
bool makes_tensor(const Call& call) {
  const bool is_factory = call.callee().is_dotted(
      {"torch.linspace", "torch.arange", "torch.ones", "torch.zeros", "torch.rand", "torch.randn",
       "torch.eye", "torch.full", "torch.logspace", "torch.from_numpy", "torch.as_tensor",
       "torch.tensor", "torch.FloatTensor", "torch.hann_window", "torch.hamming_window"});
  if (!is_factory || call.keyword("device")) return false;
  const auto arguments = call.arguments();
  if (arguments.empty()) return false;
  const bool from_value = call.callee().name() == "tensor" || call.callee().name() == "as_tensor";
  return !from_value || arguments.front().is(Kind::list) || arguments.front().is(Kind::tuple);
}

bool is_index(const Expr& use) {
  const Expr above = use.parent();
  return above.is(Kind::subscript) && above.child(Field::object) != use;
}

// An operand, or the argument of an operation, as it is.
bool is_operand(const Expr& use) {
  const Expr above = use.parent();
  if (above.is(Kind::binary)) return true;
  const Call call = above.as_call();
  if (!call || call.callee() == use) return false;
  const std::string_view dotted = call.callee().dotted();
  return dotted.substr(0, 6) == "torch.";
}

bool is_of_forward(const Expr& use) { return use.function().name() == "forward"; }

bool is_moved(const Expr& use) {
  const Expr above = use.parent();
  return above.is(Kind::attribute) &&
         (above.name() == "to" || above.name() == "cuda" || above.name() == "type_as" ||
          above.name() == "device" || above.name() == "item" || above.name() == "tolist");
}

bool stays_behind(const Place& attribute) {
  const auto bindings = attribute.bindings();
  const auto uses = attribute.uses();
  return bindings.size() == 1 && std::none_of(uses.begin(), uses.end(), is_moved) &&
         std::any_of(uses.begin(), uses.end(), [](const Expr& use) {
           return is_of_forward(use) && is_operand(use) && !is_index(use);
         });
}

bool moves_modules(const SourceView& code) {
  const auto calls = code.calls_of({"cuda", "to"});
  return std::any_of(calls.begin(), calls.end(),
                     [](const Call& call) { return call.moves_to_device(); });
}

void add_plain_attributes(const SourceView& code, const Call& factory,
                          std::vector<Finding>& findings) {
  const Expr target = factory.target();
  if (!target.is(Kind::attribute) || factory.function().name() != "__init__") return;
  if (!is_module(code, factory.class_definition()) || !stays_behind(target.place())) return;
  const std::string name(target.name());
  const std::string self(target.child(Field::object).text());
  Finding finding = factory.finding(
      "`" + std::string(target.text()) +
      "` is a plain tensor: `.to(device)` of the module leaves it on the host, and `forward` fails "
      "or copies. Register it: `" +
      self + ".register_buffer(\"" + name + "\", …, persistent=False)`.");
  if (!moves_modules(code)) finding.severity = Severity::note;
  finding.fixes.push_back(
      {"Register it as a buffer",
       "",
       {factory.parent().replaced_by(self + ".register_buffer(\"" + name + "\", " +
                                     std::string(factory.text()) + ", persistent=False)")}});
  findings.push_back(std::move(finding));
}

void add_loads(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& load : code.calls_to({"torch.load"})) {
    if (load.argument("map_location", 1)) continue;
    Finding finding = load.finding(
        "Without `map_location` the tensors go to the device that they were saved from, beside "
        "what is there. Write `map_location=\"cpu\"` and move the module.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch")) return findings;
  const bool has_default =
      !code.calls_to({"torch.set_default_device", "torch.set_default_tensor_type"}).empty();
  for (const Call& factory :
       code.calls_to({"torch.linspace", "torch.arange", "torch.ones", "torch.zeros", "torch.rand",
                      "torch.randn", "torch.eye", "torch.full", "torch.logspace",
                      "torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.FloatTensor",
                      "torch.hann_window", "torch.hamming_window"})) {
    if (!has_default && makes_tensor(factory)) add_plain_attributes(code, factory, findings);
  }
  add_loads(code, findings);
  return findings;
}

// Where a tensor lies is the matter, not what it takes.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  const auto comma = holder.largest.find(", ");
  return holder.label + " lies on " + holder.largest.substr(0, comma) +
         ", the weights of its module on " + holder.largest.substr(comma + 2) +
         ", and `forward` computes with both. Make it a buffer: "
         "`self.register_buffer(name, tensor, persistent=False)` moves with the module.";
}

std::string failed(const Holder& holder) {
  return holder.label + " computes with tensors on several devices: " + holder.largest +
         ". Bring them to one, `x = x.to(device)`, before the next try.";
}

std::string without_values(const Holder& holder) {
  return holder.largest + " of " + holder.label +
         " lie on meta after load_state_dict(): they have no values, and passes fail or compute "
         "with what was in memory. Load the missing names, or give them values after "
         "`to_empty(device=…)`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {{"stray tensor", "Bring it to the module", message, 0, kBytesUnknown},
                          {"several devices", "", failed, 0, kBytesUnknown},
                          {"weights without values", "", without_values, 0, kBytesUnknown}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL606", "mixed_devices", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::mixed_devices
