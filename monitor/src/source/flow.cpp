// Where and how often a piece of code runs: loops, functions called in loops, modes of autograd.
#include <algorithm>

#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// A call that stands two functions away from its loop is still read as in it.
constexpr int kLevels = 2;

bool is_loop(Kind kind) {
  return kind == Kind::for_loop || kind == Kind::while_loop || kind == Kind::comprehension;
}

// The iterable is computed once, and the else clause runs once.
bool repeats(const Program& program, std::uint32_t loop, std::uint32_t child) {
  const Node& node = program.node(child);
  switch (program.node(loop).kind) {
    case Kind::for_loop:
      return node.field == Field::body;
    case Kind::while_loop:
      return node.field == Field::body || node.field == Field::condition;
    default: {
      if (node.kind != Kind::comprehension_for) return true;
      return program.syntax.next_sibling(program.syntax.first_child(loop)) != child;
    }
  }
}

bool iterations_gradients_off(const Program& program, std::uint32_t expression) {
  const Call call = program.at(expression).as_call();
  const Expr what = call ? call.callee() : program.at(expression);
  if (what.is_dotted({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad",
                      "torch.autograd.inference_mode", "torch.autograd.grad_mode.no_grad"})) {
    return !call || !call.argument("mode", 0).is_false();
  }
  return call && what.is_dotted({"torch.set_grad_enabled"}) && call.argument("mode", 0).is_false();
}

bool has_mode(const Program& program, std::uint32_t node, Field field) {
  for (auto child = program.syntax.first_child(node); child != kNone;
       child = program.syntax.next_sibling(child)) {
    if (program.node(child).field != field) continue;
    std::uint32_t what = child;
    if (program.node(child).kind == Kind::decorator ||
        program.node(child).kind == Kind::as_pattern) {
      what = program.syntax.first_child(child);
    }
    if (what != kNone && iterations_gradients_off(program, what)) return true;
  }
  return false;
}

// An executed `torch.set_grad_enabled(False)`, for as long as no True follows.
bool switched_off_before(const Program& program, std::uint32_t node) {
  const DottedId dotted = program.names.known_dotted("torch.set_grad_enabled");
  const auto calls = program.calls_by_dotted.find(dotted);
  if (dotted == 0 || calls == program.calls_by_dotted.end()) return false;
  bool off = false;
  for (const Call& call : calls->second) {
    if (call.id() > node) break;
    if (call.is_discarded() && call.at_top_level()) off = call.argument("mode", 0).is_false();
  }
  return off;
}

// Lightning calls these with gradients off.
bool is_evaluation_of_lightning(const Function& function) {
  if (!function.is_method()) return false;
  for (const std::string_view name :
       {"validation_step", "test_step", "predict_step", "on_validation_batch_end",
        "on_test_batch_end", "on_validation_epoch_end", "on_test_epoch_end", "validation_epoch_end",
        "test_epoch_end"}) {
    if (function.name() == name) return true;
  }
  return false;
}

bool find_no_grad(const Program& program, std::uint32_t node, int levels) {
  std::uint32_t function = kNone;
  for (std::uint32_t child = node, up = program.node(node).parent; up != kNone;
       child = up, up = program.node(up).parent) {
    const Kind kind = program.node(up).kind;
    const bool in_body = program.node(child).field == Field::body;
    if (kind == Kind::with_block && in_body && has_mode(program, up, Field::item)) return true;
    if (kind == Kind::class_definition && has_mode(program, up, Field::decorator)) return true;
    if (kind != Kind::function || program.node(child).field == Field::decorator) continue;
    if (has_mode(program, up, Field::decorator)) return true;
    if (is_evaluation_of_lightning(Function(&program, up))) return true;
    function = up;
    break;
  }
  if (function == kNone) return switched_off_before(program, node);
  const auto sites = program.calls_by_function.find(function);
  if (levels == 0 || sites == program.calls_by_function.end()) return false;
  return std::all_of(sites->second.begin(), sites->second.end(), [&](const Call& site) {
    return runs_under_no_grad(program, site.id(), levels - 1);
  });
}

bool find_loop(const Program& program, std::uint32_t node, int levels) {
  if (!loops_around(program, node).empty()) return true;
  const std::uint32_t function = program.function_of(node);
  if (function == kNone || levels == 0) return false;
  const auto sites = program.calls_by_function.find(function);
  if (sites == program.calls_by_function.end()) return false;
  return std::any_of(sites->second.begin(), sites->second.end(), [&](const Call& site) {
    return runs_in_loop(program, site.id(), levels - 1);
  });
}

}  // namespace

List<Loop> loops_around(const Program& program, std::uint32_t node) {
  List<Loop> loops;
  for (std::uint32_t child = node, up = program.node(node).parent; up != kNone;
       child = up, up = program.node(up).parent) {
    const Kind kind = program.node(up).kind;
    if (kind == Kind::function || kind == Kind::lambda || kind == Kind::class_definition) break;
    if (is_loop(kind) && repeats(program, up, child)) loops.emplace_back(&program, up);
  }
  return loops;
}

bool runs_in_loop(const Program& program, std::uint32_t node, int levels) {
  return find_loop(program, node, levels);
}

bool runs_under_no_grad(const Program& program, std::uint32_t node, int levels) {
  return find_no_grad(program, node, levels);
}

}  // namespace xleak::monitor::source

namespace xleak::monitor {

bool Expr::in_loop() const {
  return *this && source::runs_in_loop(*program_, node_, source::kLevels);
}

bool Expr::under_no_grad() const {
  return *this && source::runs_under_no_grad(*program_, node_, source::kLevels);
}

bool Expr::is_guarded() const {
  if (!*this) return false;
  for (std::uint32_t child = node_, up = program_->node(node_).parent; up != source::kNone;
       child = up, up = program_->node(up).parent) {
    const source::Kind kind = program_->node(up).kind;
    if (kind == source::Kind::if_branch &&
        program_->node(child).field != source::Field::condition) {
      return true;
    }
    if (kind == source::Kind::conditional || kind == source::Kind::except_branch) return true;
    if (kind == source::Kind::for_loop || kind == source::Kind::while_loop ||
        kind == source::Kind::function) {
      return false;
    }
  }
  return false;
}

bool Expr::names_device() const {
  using source::Kind;
  if (is(Kind::string) || is(Kind::format_string)) {
    const std::string_view text = this->text();
    return text.find("cuda") != std::string_view::npos ||
           text.find("mps") != std::string_view::npos || text.find("xpu") != std::string_view::npos;
  }
  if (is(Kind::attribute) && name() == "device") return true;
  if (const Call call = as_call()) return call.callee().is_dotted({"torch.device"});
  if (!is(Kind::name) && !is(Kind::attribute)) return false;
  const std::string_view name = this->name();
  for (const std::string_view word : {"dev", "DEV", "gpu", "GPU", "cuda", "CUDA"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return made_by() && made_by().callee().is_dotted({"torch.device"});
}

bool Call::moves_to_device() const {
  const std::string_view method = this->method();
  if (!receiver().dotted().empty()) return false;
  if (method == "cuda") return true;
  return method == "to" && argument("device", 0).names_device();
}

}  // namespace xleak::monitor
