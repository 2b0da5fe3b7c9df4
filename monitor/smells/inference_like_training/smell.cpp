// A model that is only asked for answers saves its activations for a backward pass all the same.
#include <algorithm>
#include <set>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::inference_like_training {
namespace {

bool trains(const SourceView& code) {
  for (const Call& call : code.calls_of({"backward", "fit", "train", "manual_backward", "step",
                                         "requires_grad_", "retain_grad"})) {
    const bool is_mode = call.method() == "train" && call.argument("mode", 0).is_false();
    const bool is_frozen =
        call.method() == "requires_grad_" && call.argument("requires_grad", 0).is_false();
    if (!is_mode && !is_frozen) return true;
  }
  return !code.calls_to({"torch.autograd.grad", "torch.autograd.backward"}).empty();
}

// from_pretrained(), torchvision.models.resnet50(weights=…), torch.hub.load().
bool is_pretrained(const Call& made) {
  if (made.method() == "from_pretrained" || made.callee().is_dotted({"torch.hub.load"}))
    return true;
  if (made.callee().is_dotted({"timm.create_model"})) return made.keyword("pretrained").is_true();
  if (made.callee().dotted().substr(0, 19) != "torchvision.models.") return false;
  const Expr weights = made.argument("weights", 0);
  const Expr older = made.keyword("pretrained");
  return (weights && !weights.is(source::Kind::none)) || older.is_true();
}

// The name that `Model.from_pretrained(…).to(device)` is assigned to.
Place name_of(Expr made) {
  while (made && !made.is(source::Kind::assign) && !made.is(source::Kind::block))
    made = made.parent();
  return made.child(source::Field::left).place();
}

void add(const Place& place, std::vector<Place>& places) {
  const bool is_known = std::find(places.begin(), places.end(), place) != places.end();
  if (place && !is_known) places.push_back(place);
}

std::vector<Place> finished_models(const SourceView& code) {
  std::vector<Place> models;
  for (const Call& call : code.calls_of({"load_state_dict"})) add(call.receiver().place(), models);
  for (const Call& call : code.calls_of({"from_pretrained", "load", "create_model"})) {
    if (is_pretrained(call)) add(name_of(call), models);
  }
  if (!code.uses("torchvision")) return models;
  for (const Expr& statement : code.assignments()) {
    const Expr right = statement.child(source::Field::right);
    if (right.as_call() && is_pretrained(right.made_by()))
      add(statement.child(source::Field::left).place(), models);
  }
  return models;
}

bool is_frozen_or_in_eval(const Place& model) {
  return !model.calls_of({"requires_grad_", "eval", "parameters"}).empty();
}

// A part of a larger model or loss, or a test.
bool is_within_training(const SourceView& code, const Call& call) {
  const std::string_view name = call.function().name();
  return code.is_derived(call.class_definition(), {"torch.nn.Module"}) || name == "forward" ||
         name.substr(0, 4) == "test" ||
         (name.size() > 5 && name.substr(name.size() - 5) == "_step");
}

std::string message(const Call& call, const Call& made) {
  std::string mode;
  for (Expr at = made; at && !at.is(source::Kind::assign); at = at.parent())
    mode += std::string(at.as_call().method()) + " ";
  const bool evaluates = mode.find("eval ") != std::string::npos;
  const bool is_transformer = made.method() == "from_pretrained";
  return "`" + std::string(call.callee().text()) +
         "` only predicts here, with gradients on: the activations of every layer stay until the "
         "result goes. Put the loop under `with torch.inference_mode():`" +
         (evaluates || is_transformer ? "."
                                      : ", after `.eval()`: dropout and the statistics of "
                                        "normalisation are still those of training.");
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("transformers") && !code.uses("torchvision"))
    return findings;
  const auto models = finished_models(code);
  if (models.empty() || trains(code)) return findings;
  std::set<std::uint32_t> told;
  for (const Place& model : models) {
    if (is_frozen_or_in_eval(model)) continue;
    for (const Call& call : model.calls()) {
      if (call.is_discarded() || call.callee().value().type != ValueType::module) continue;
      if (call.may_be_under_no_grad() || is_within_training(code, call)) continue;
      const auto loops = call.loops();
      if (!told.insert(loops.empty() ? call.function().id() : loops.front().id()).second) continue;
      Finding finding = call.finding(message(call, call.callee().made_by()));
      if (!call.in_loop()) finding.severity = Severity::note;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::string measured(const Holder& holder) {
  return holder.label + " came from a forward pass with gradients on, and no cell trains: its " +
         holder.largest + " keeps " + human(holder.held_bytes) +
         " of activations alive. To predict, call `.eval()`, or dropout and the statistics of "
         "normalisation stay those of training, and run the pass under `with "
         "torch.inference_mode():`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const char* fix_title = "Keep the value, cut its graph";
  const HolderRule single{"one prediction", fix_title, measured};
  // One pass may be a look at the model before it is trained.
  return holder_findings(session,
                         {{"predictions", fix_title, measured}, single.as(Severity::note)});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL202", "inference_like_training", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::inference_like_training
