// Which value a backward pass begins at: `loss.backward()`, `accelerator.backward(loss)`.
#include <algorithm>

#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// A keyword of torch.Tensor.backward(): with another one it is a method of something else.
bool is_of_tensors(std::string_view keyword) {
  return is_one_of(keyword, {"gradient", "retain_graph", "create_graph", "inputs"});
}

List<Expr> given_to(const Call& call) {
  List<Expr> given = call.children();
  given.erase(std::remove(given.begin(), given.end(), call.callee()), given.end());
  return given;
}

// `def backward(self, loss)` cannot be what `loss.backward()` calls, nor one with another keyword.
bool may_call(const Call& call, const Function& method) {
  const auto parameters = method.child(Field::parameters).children();
  const auto given = given_to(call);
  bool any_names = false;
  bool asks = false;
  List<std::string_view> names;
  for (std::size_t i = 1; i < parameters.size(); ++i) {
    const bool is_starred = parameters[i].is(Kind::starred);
    any_names |= is_starred;
    asks |= !is_starred && !parameters[i].child(Field::right);
    names.push_back(parameters[i].name());
  }
  if (given.empty()) return !asks;
  return !names.empty() && std::all_of(given.begin(), given.end(), [&](const Expr& each) {
    return !each.is(Kind::keyword) || any_names ||
           std::find(names.begin(), names.end(), each.name()) != names.end();
  });
}

// Autograd calls the backward() of its functions, nobody else does.
bool is_called_by_users(const Program& program, const Function& method) {
  const Expr around = method.class_definition();
  return !program.is_derived(around.id(),
                             {"torch.autograd.Function", "torch.autograd.function.Function",
                              "torch.autograd.function.InplaceFunction"},
                             0);
}

bool is_of_program(const Program& program, const Call& call) {
  return std::any_of(program.backward_methods.begin(), program.backward_methods.end(),
                     [&](const Function& method) {
                       return method.name() == call.method() &&
                              is_called_by_users(program, method) && may_call(call, method);
                     });
}

}  // namespace

Begins backward_begins(const Program& program, const Call& call) {
  if (call.callee().is_dotted({"torch.autograd.backward"})) return Begins::at_argument;
  const std::string_view method = call.method();
  if (!is_called_backward(method) || !call.callee().dotted().empty()) return Begins::no;
  if (is_of_program(program, call)) return Begins::no;
  if (method == "manual_backward") return Begins::at_argument;
  const auto given = given_to(call);
  const bool is_of_tensor = std::all_of(given.begin(), given.end(), [](const Expr& each) {
    return each.is(Kind::keyword) && is_of_tensors(each.name());
  });
  return is_of_tensor ? Begins::at_receiver : Begins::at_argument_unless_tensor;
}

}  // namespace xleak::monitor::source
