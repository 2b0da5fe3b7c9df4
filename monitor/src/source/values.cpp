// What an expression is, by following what it was made from.
#include <algorithm>

#include "source/certainty.hpp"
#include "source/frameworks.hpp"
#include "source/program.hpp"

namespace xleak::monitor::source {
namespace {

// A value that came through more hands than this is unknown: the search stays linear.
constexpr int kDeepestEvaluation = 24;

HasGraph joined(HasGraph a, HasGraph b) { return std::max(a, b); }

Value of_type(ValueType type) {
  Value value;
  value.type = type;
  return value;
}

Value tensor(HasGraph graph) {
  Value value = of_type(ValueType::tensor);
  value.graph = graph;
  return value;
}

Value unknown() {
  Value value;
  value.graph = HasGraph::unknown;
  return value;
}

Value joined(const Value& a, const Value& b) {
  if (a.type == ValueType::unknown || a.type == ValueType::nothing) {
    Value value = b;
    value.is_guessed = true;
    if (a.type == ValueType::unknown && b.graph == HasGraph::no) value.graph = HasGraph::unknown;
    return value;
  }
  Value value = a;
  value.is_guessed = a.is_guessed || b.is_guessed || a.type != b.type;
  value.graph = joined(a.graph, b.graph);
  value.leaf = a.leaf && b.leaf;
  value.loss = a.loss || b.loss;
  value.on_device = a.on_device || b.on_device;
  return value;
}

/// Evaluates expressions of one program; keeps what it found.
class Evaluation {
 public:
  explicit Evaluation(const Program& program) : program_(program) {}

  Value of(std::uint32_t id) {
    if (id == kNone || depth_ >= kDeepestEvaluation) return unknown();
    const auto known = program_.values.find(id);
    if (known != program_.values.end()) return known->second;
    // Whoever asks for it meanwhile comes round a loop: `total = total + loss`.
    program_.values.emplace(id, unknown());
    ++depth_;
    const Value value = find(id);
    --depth_;
    program_.values[id] = value;
    return value;
  }

 private:
  const Node& node(std::uint32_t id) const { return program_.node(id); }
  std::uint32_t child(std::uint32_t id, Field field) const {
    return program_.syntax.child(id, field);
  }
  std::uint32_t first(std::uint32_t id) const { return program_.syntax.first_child(id); }

  Value find(std::uint32_t id) {
    switch (node(id).kind) {
      case Kind::integer:
      case Kind::floating:
      case Kind::true_literal:
      case Kind::false_literal:
        return of_type(ValueType::number);
      case Kind::string:
      case Kind::format_string:
        return of_type(ValueType::text);
      case Kind::none:
        return of_type(ValueType::nothing);
      case Kind::list:
        return of_type(ValueType::list);
      case Kind::comprehension:
        return of_type(ValueType::list);
      case Kind::tuple:
        return of_type(ValueType::tuple);
      case Kind::dict:
        return of_type(ValueType::dict);
      case Kind::set:
        return of_type(ValueType::set);
      case Kind::name:
        return of_place(id);
      case Kind::attribute:
        return of_attribute(id);
      case Kind::call:
        return of_call(id);
      case Kind::subscript:
        return of_element(id);
      case Kind::binary:
        return of_operator(id);
      case Kind::comparison: {
        Value value = of_operator(id);
        value.graph = HasGraph::no;
        return value;
      }
      case Kind::unary:
      case Kind::await:
      case Kind::starred:
        return of(first(id));
      case Kind::boolean:
        return of_operator(id);
      case Kind::negation:
        return of_type(ValueType::number);
      case Kind::conditional: {
        const std::uint32_t a = first(id);
        const std::uint32_t condition = a == kNone ? kNone : program_.syntax.next_sibling(a);
        const std::uint32_t b =
            condition == kNone ? kNone : program_.syntax.next_sibling(condition);
        return b == kNone ? unknown() : joined(of(a), of(b));
      }
      case Kind::named_expression:
      case Kind::keyword:
        return of(child(id, Field::right));
      default:
        return unknown();
    }
  }

  Value of_operator(std::uint32_t id) {
    Value value = of_type(ValueType::number);
    bool is_array = false;
    bool is_unknown = false;
    bool is_certain = false;
    for (auto operand = first(id); operand != kNone;
         operand = program_.syntax.next_sibling(operand)) {
      const Value part = of(operand);
      is_array |= part.type == ValueType::array;
      is_unknown |= part.type == ValueType::unknown;
      if (part.is_tensor() || part.type == ValueType::tf_tensor ||
          part.type == ValueType::keras_tensor) {
        if (value.type != ValueType::tensor) value.type = part.type;
        is_certain |= !part.is_guessed;
        value.loss |= part.loss;
        value.on_device |= part.on_device;
      }
      value.graph = joined(value.graph, part.graph);
    }
    value.is_guessed = value.is_tensor() && !is_certain;
    if (value.type == ValueType::model_output) value.type = ValueType::tensor;
    if (value.type == ValueType::number && is_unknown) value.type = ValueType::unknown;
    if (value.type == ValueType::number && is_array) value.type = ValueType::array;
    if (program_.at(id).under_no_grad()) value.graph = HasGraph::no;
    return value;
  }

  // --- names -----------------------------------------------------------------------------------

  Value of_place(std::uint32_t id) {
    const PlaceId place = program_.scopes->place_of(id);
    if (place == kNone) return unknown();
    const PlaceRecord& at = program_.scopes->place(place);
    const Binding* bindings = program_.scopes->bindings(place);
    const Binding* reaching = reaching_binding(bindings, at.binding_count, id);
    if (reaching == nullptr) return unknown();
    Value value = of_binding(*reaching);
    const bool was_tensor = value.is_tensor();
    if (value.is_tensor() && cut_since(place, reaching->target, id)) value.graph = HasGraph::no;
    if ((value.type == ValueType::unknown || value.graph == HasGraph::unknown) &&
        goes_backward(place, reaching->target, value.is_tensor())) {
      value.type = ValueType::tensor;
      value.graph = HasGraph::yes;
      value.loss = true;
    }
    value.is_guessed |= value.is_tensor() && !was_tensor;
    if (value.type == ValueType::unknown && is_used_as_module(place)) {
      value.type = ValueType::module;
      value.is_guessed = true;
    }
    if (value.type == ValueType::tensor && value.is_guessed)
      value.is_guessed = !is_used_as_tensor(Place(&program_, place));
    return value;
  }

  // The last one before, in the same function; for a name of an outer one, its last.
  const Binding* reaching_binding(const Binding* bindings, std::uint32_t count, std::uint32_t use) {
    const std::uint32_t function = program_.function_of(use);
    const auto* later = std::lower_bound(
        bindings, bindings + count, use,
        [](const Binding& binding, std::uint32_t at) { return binding.target < at; });
    for (const Binding* binding = later; binding != bindings;) {
      --binding;
      const bool here =
          binding->how == Bound::parameter || program_.function_of(binding->target) == function;
      if (here && binding->how != Bound::deleted && !is_own_target(*binding, use)) return binding;
    }
    for (std::uint32_t i = count; i-- > 0;) {
      if (bindings[i].how != Bound::deleted && bindings[i].how != Bound::augmented)
        return &bindings[i];
    }
    return nullptr;
  }

  // A statement's own target does not reach its right side.
  bool is_own_target(const Binding& binding, std::uint32_t use) const {
    const Node& statement = node(node(binding.target).parent);
    return use < statement.end &&
           (statement.kind == Kind::assign || statement.kind == Kind::augmented_assign);
  }

  Value of_binding(const Binding& binding) {
    switch (binding.how) {
      case Bound::assign:
        return binding.position < 0 ? of(binding.value) : unpacked(binding.value, binding.position);
      case Bound::augmented: {
        const Value added = of(binding.value);
        Value before = of_before(binding);
        // `total = 0.0` becomes a tensor by the first that is added.
        if (added.is_tensor() && before.type != ValueType::list) {
          before.type = ValueType::tensor;
          before.graph = joined(before.graph, added.graph);
          before.loss |= added.loss;
          if (program_.at(binding.target).under_no_grad()) before.graph = HasGraph::no;
        }
        return before;
      }
      case Bound::loop:
        return element_of(binding);
      case Bound::with:
        return of(binding.value);
      case Bound::parameter:
        return of_parameter(binding);
      default:
        return unknown();
    }
  }

  Value of_before(const Binding& binding) {
    const PlaceRecord& place = program_.scopes->place(binding.place);
    const Binding* bindings = program_.scopes->bindings(binding.place);
    const Binding* before = reaching_binding(bindings, place.binding_count, binding.target);
    return before == nullptr || before == &binding ? unknown() : of_binding(*before);
  }

  // `values, indices = scores.max(1)`: indices have no graph.
  bool returns_indices(std::uint32_t id) const {
    static constexpr std::string_view kPairs[] = {"max",    "min",      "topk", "sort",
                                                  "median", "kthvalue", "mode", "cummax"};
    const std::string_view name = program_.at(id).as_call().callee().name();
    return std::find(std::begin(kPairs), std::end(kPairs), name) != std::end(kPairs);
  }

  Value unpacked(std::uint32_t id, int position) {
    const Value whole = of(id);
    if (position == 1 && returns_indices(id)) return tensor(HasGraph::no);
    if (whole.is_tensor()) return part_of(whole);
    return unknown();
  }

  static Value part_of(const Value& whole) {
    Value value = tensor(whole.graph);
    value.is_guessed = whole.is_guessed || whole.type == ValueType::model_output;
    return value;
  }

  // What a loop's variable gets.
  Value element_of(const Binding& binding) {
    const Call call = program_.at(binding.value).as_call();
    if (call) {
      const std::string_view method = call.method();
      if (method == "parameters") return parameter();
      if (method == "named_parameters") return binding.position == 1 ? parameter() : unknown();
      if (call.callee().is_dotted({"builtins.range"})) return of_type(ValueType::number);
      if (call.callee().is_dotted({"builtins.enumerate"})) {
        if (binding.position == 0) return of_type(ValueType::number);
        const auto inner = call.arguments();
        return inner.empty() ? unknown() : element(of(inner.front().id()));
      }
      const auto inner = call.arguments();
      if (!inner.empty() && call.callee().dotted().substr(0, 4) == "tqdm") {
        return element(of(inner.front().id()));
      }
    }
    return element(of(binding.value));
  }

  static Value parameter() {
    Value value = tensor(HasGraph::yes);
    value.leaf = true;
    return value;
  }

  static Value element(const Value& whole) {
    // A batch of data has no graph; elements of a container are not followed.
    if (whole.type == ValueType::loader) return tensor(HasGraph::no);
    if (whole.is_tensor()) return part_of(whole);
    if (whole.type == ValueType::number) return of_type(ValueType::number);
    return unknown();
  }

  // What all calls of the program hand over there; the default does not count.
  Value of_parameter(const Binding& binding) {
    const std::uint32_t function = program_.function_of(binding.target);
    if (function == kNone || node(function).kind != Kind::function) return unknown();
    const Function definition(&program_, function);
    const auto parameters = definition.parameters();
    std::uint32_t name = node(binding.target).name;
    int position = 0;
    for (; position < static_cast<int>(parameters.size()); ++position) {
      if (node(parameters[position].id()).name == name) break;
    }
    if (position == static_cast<int>(parameters.size())) return unknown();
    if (definition.is_method() && position-- == 0) return of_type(type_of_class_around(function));
    if (position < 0) return unknown();
    Value value;
    bool is_first = true;
    for (const Call& site : calls_of(definition)) {
      const Expr argument = site.argument(program_.names.text(name), position);
      if (!argument) continue;
      const Value here = of(argument.id());
      value = is_first ? here : joined(value, here);
      is_first = false;
    }
    return is_first ? unknown() : value;
  }

  // `__init__` is called by the name of its class.
  static List<Call> calls_of(const Function& function) {
    const bool makes = function.name() == "__init__";
    return makes ? function.class_definition().constructors() : function.call_sites();
  }

  // Of a method; the first parameter of a static one is no instance, but seldom asked for.
  ValueType type_of_class_around(std::uint32_t function) const {
    const std::uint32_t around = program_.above(function, Kind::class_definition);
    return around == kNone ? ValueType::unknown : type_of_class(around);
  }

  // `state.detach_()` or `loss.backward()`-less cuts between a binding and a use.
  bool cut_since(PlaceId place, std::uint32_t from, std::uint32_t to) {
    return any_use(place, from, to, [&](const Call& call) { return call.method() == "detach_"; });
  }

  // `loss.backward()` and `accelerator.backward(loss)` say what loss is, for the binding that
  // stands in the same loop or function.
  bool goes_backward(PlaceId place, std::uint32_t binding, bool is_tensor) {
    if (!program_.calls_backward) return false;
    const std::uint32_t end = end_of_surroundings(binding);
    const PlaceRecord& at = program_.scopes->place(place);
    const std::uint32_t* uses = program_.scopes->uses(place);
    return std::any_of(uses, uses + at.use_count, [&](std::uint32_t use) {
      return use > binding && use < end && begins_backward(use, is_tensor) &&
             !program_.at(binding).under_no_grad();
    });
  }

  bool begins_backward(std::uint32_t use, bool is_tensor) {
    const Expr above = program_.at(node(use).parent);
    const Call of_method = above.is(Kind::attribute) ? above.parent().as_call() : Call();
    if (of_method && of_method.receiver().id() == use) {
      const Begins begins = backward_begins(program_, of_method);
      return begins == Begins::at_receiver ||
             (begins == Begins::at_argument_unless_tensor && is_tensor);
    }
    const Call call = above.as_call();
    if (!is_called_backward(call.callee().name()) || call.arguments().front().id() != use)
      return false;
    const Begins begins = backward_begins(program_, call);
    return begins == Begins::at_argument ||
           (begins == Begins::at_argument_unless_tensor && !of(call.receiver().id()).is_tensor());
  }

  std::uint32_t end_of_surroundings(std::uint32_t id) const {
    const auto loops = loops_around(program_, id);
    if (!loops.empty()) return node(loops.front().id()).end;
    const std::uint32_t function = program_.function_of(id);
    if (function != kNone) return node(function).end;
    const std::size_t cell = program_.cell_of(id);
    return cell + 1 < program_.first_node.size()
               ? program_.first_node[cell + 1]
               : static_cast<std::uint32_t>(program_.syntax.nodes.size());
  }

  bool is_used_as_module(PlaceId place) {
    return any_use(place, 0, kNone, [](const Call& call) {
      const std::string_view method = call.method();
      return (method == "eval" || method == "train" || method == "parameters" ||
              method == "state_dict" || method == "load_state_dict") &&
             call.arguments().size() <= 1;
    });
  }

  template <typename Test>
  bool any_use(PlaceId place, std::uint32_t from, std::uint32_t to, Test test) {
    const PlaceRecord& at = program_.scopes->place(place);
    const std::uint32_t* uses = program_.scopes->uses(place);
    for (std::uint32_t i = 0; i < at.use_count; ++i) {
      if (uses[i] <= from || uses[i] >= to) continue;
      const std::uint32_t attribute = node(uses[i]).parent;
      if (attribute == kNone || node(attribute).kind != Kind::attribute) continue;
      const std::uint32_t call = node(attribute).parent;
      if (call == kNone || node(call).kind != Kind::call ||
          child(call, Field::callee) != attribute) {
        continue;
      }
      if (test(Call(&program_, call))) return true;
    }
    return false;
  }

  // --- attributes and elements -------------------------------------------------------------------

  Value of_attribute(std::uint32_t id) {
    const std::uint32_t object = child(id, Field::object);
    const std::string_view name = program_.names.text(node(id).name);
    const Value whole = object == kNone ? unknown() : of(object);
    if (whole.type == ValueType::model_output) {
      Value value = tensor(whole.graph);
      value.loss = name == "loss";
      // Others are tuples, or None unless they are asked for.
      value.is_guessed = name != "loss" && name != "logits" && name != "last_hidden_state";
      return value;
    }
    if (whole.type == ValueType::tensor) {
      if (is_plain_attribute(name)) return of_type(ValueType::number);
      if (name == "data" || name == "grad") return tensor(HasGraph::no);
      return whole;
    }
    if (whole.type == ValueType::module && (name == "weight" || name == "bias")) return parameter();
    return of_place(id);
  }

  Value of_element(std::uint32_t id) {
    const std::uint32_t object = child(id, Field::object);
    const Value whole = object == kNone ? unknown() : of(object);
    const auto parts = program_.at(id).children();
    const bool is_second = parts.size() == 2 && parts.back().integer() == 1;
    if (is_second && returns_indices(object)) return tensor(HasGraph::no);
    if (whole.is_tensor()) return part_of(whole);
    if (whole.type == ValueType::array || whole.type == ValueType::tf_tensor) return whole;
    return unknown();
  }

  // --- calls -------------------------------------------------------------------------------------

  Value of_call(std::uint32_t id) {
    const Call call(&program_, id);
    const Expr callee = call.callee();
    if (!callee) return unknown();
    Value value = result_of(call, callee);
    if (value.origin == kNone) value.origin = id;
    return value;
  }

  Value result_of(const Call& call, const Expr& callee) {
    const std::string_view dotted = callee.dotted();
    const Makes makes = made_by(dotted);
    if (makes != Makes::unknown) return made(call, makes);
    for (const Function& function : call.callees()) return returned(function);
    const Value built = instance(callee);
    if (built.type != ValueType::unknown) return built;
    if (callee.is(Kind::attribute)) {
      const Expr receiver = call.receiver();
      const Value on = of(receiver.id());
      const Value result = on.type == ValueType::unknown ? unknown() : of_method(call, on);
      const bool may_be_attribute =
          on.type == ValueType::module || on.type == ValueType::instance ||
          on.type == ValueType::keras_model || on.type == ValueType::keras_layer;
      // `self.conv(x)` calls what the attribute holds.
      const bool is_known = result.type != ValueType::unknown || !may_be_attribute;
      if (on.type != ValueType::unknown && is_known) return result;
      if (call.method() == "detach" || call.method() == "item") {
        return call.method() == "item" ? of_type(ValueType::number) : tensor(HasGraph::no);
      }
    }
    return called(call, of(callee.id()));
  }

  Value made(const Call& call, Makes makes) {
    switch (makes) {
      case Makes::leaf_tensor: {
        Value value =
            tensor(call.keyword("requires_grad").is_true() ? HasGraph::yes : HasGraph::no);
        value.leaf = true;
        value.on_device = static_cast<bool>(call.keyword("device"));
        return value;
      }
      case Makes::plain_tensor:
        return tensor(HasGraph::no);
      case Makes::tensor: {
        Value value = tensor(graph_of_arguments(call));
        value.is_guessed = returns_several(call);
        return value;
      }
      case Makes::loss: {
        Value value = tensor(graph_of_arguments(call));
        value.loss = true;
        return value;
      }
      case Makes::gradients:
        return tensor(call.argument("create_graph", 4).is_true() ? HasGraph::yes : HasGraph::no);
      case Makes::parameter:
        return call.argument("requires_grad", 1).is_false() ? tensor(HasGraph::no) : parameter();
      case Makes::same_module: {
        const auto arguments = call.arguments();
        const Value value = arguments.empty() ? unknown() : of(arguments.front().id());
        return value.type == ValueType::module ? value : of_type(ValueType::unknown);
      }
      case Makes::module:
      case Makes::transformer: {
        Value value = of_type(ValueType::module);
        value.origin = call.id();
        return value;
      }
      case Makes::loss_function:
        return of_type(ValueType::loss_function);
      case Makes::optimizer:
        return of_type(ValueType::optimizer);
      case Makes::loader:
        return of_type(ValueType::loader);
      case Makes::deque:
        return of_type(ValueType::deque);
      case Makes::array:
        return of_type(ValueType::array);
      case Makes::keras_model:
        return of_type(ValueType::keras_model);
      case Makes::keras_layer:
        return of_type(ValueType::keras_layer);
      case Makes::keras_input:
        return of_type(ValueType::keras_tensor);
      case Makes::tf_tensor: {
        for (const Expr& argument : call.arguments()) {
          const ValueType type = of(argument.id()).type;
          if (type == ValueType::keras_tensor) return of_type(type);
        }
        return of_type(ValueType::tf_tensor);
      }
      case Makes::dataset:
        return of_type(ValueType::dataset);
      case Makes::number:
        return of_type(ValueType::number);
      case Makes::text:
        return of_type(ValueType::text);
      case Makes::list:
        return of_type(ValueType::list);
      case Makes::dict:
        return of_type(ValueType::dict);
      case Makes::set:
        return of_type(ValueType::set);
      case Makes::tuple:
        return of_type(ValueType::tuple);
      case Makes::unknown:
        break;
    }
    return unknown();
  }

  HasGraph graph_of_arguments(const Call& call) {
    if (call.under_no_grad()) return HasGraph::no;
    HasGraph graph = HasGraph::no;
    for (const Expr& argument : call.arguments()) graph = joined(graph, graph_of(argument));
    return graph;
  }

  // `torch.stack([a, b])` has the graphs of what stands in the list.
  HasGraph graph_of(const Expr& expression) {
    const Kind kind = expression.kind();
    if (kind == Kind::list || kind == Kind::tuple) {
      HasGraph graph = HasGraph::no;
      for (const Expr& element : expression.children()) graph = joined(graph, graph_of(element));
      return graph;
    }
    if (kind == Kind::comprehension) return of(expression.child(Field::body).id()).graph;
    const Value value = of(expression.id());
    const bool is_container = value.type == ValueType::list || value.type == ValueType::tuple ||
                              value.type == ValueType::dict || value.type == ValueType::deque;
    return is_container ? HasGraph::unknown : value.graph;
  }

  Value instance(const Expr& callee) {
    const PlaceId place = program_.scopes->place_of(callee.id());
    if (place == kNone) return unknown();
    const Binding* bindings = program_.scopes->bindings(place);
    for (std::uint32_t i = 0; i < program_.scopes->place(place).binding_count; ++i) {
      if (bindings[i].how != Bound::class_definition) continue;
      return of_type(type_of_class(bindings[i].target));
    }
    return unknown();
  }

  ValueType type_of_class(std::uint32_t class_node) const {
    if (program_.is_derived(class_node,
                            {"torch.nn.Module", "torch.nn.Sequential", "lightning.LightningModule",
                             "transformers.PreTrainedModel"},
                            0)) {
      return ValueType::module;
    }
    if (program_.is_derived(class_node, {"keras.Model", "keras.models.Model", "keras.Sequential"},
                            0)) {
      return ValueType::keras_model;
    }
    if (program_.is_derived(class_node, {"keras.layers.Layer", "keras.Layer"}, 0)) {
      return ValueType::keras_layer;
    }
    return ValueType::instance;
  }

  Value returned(const Function& function) {
    Value value;
    bool is_first = true;
    for (const Expr& expression : function.returned()) {
      if (expression.is(Kind::tuple)) {
        // Which element is taken is not followed: any of them may carry a graph.
        Value whole = of_type(ValueType::tuple);
        for (const Expr& element : expression.children()) {
          const Value part = of(element.id());
          if (part.is_tensor()) whole.graph = joined(whole.graph, HasGraph::unknown);
        }
        value = is_first ? whole : joined(value, whole);
      } else {
        const Value here = of(expression.id());
        value = is_first ? here : joined(value, here);
      }
      is_first = false;
    }
    return is_first ? of_type(ValueType::nothing) : value;
  }

  Value of_method(const Call& call, const Value& on) {
    const std::string_view method = call.method();
    switch (on.type) {
      case ValueType::tensor:
      case ValueType::model_output:
        return of_tensor_method(call, on);
      case ValueType::module:
        if (returns_module(method)) {
          Value value = on;
          value.on_device |= method == "cuda" || method == "to";
          return value;
        }
        if (method == "forward") return called(call, on);
        if (method == "generate") return tensor(HasGraph::no);
        break;
      case ValueType::dataset:
        return on;
      case ValueType::array:
        return on;
      case ValueType::keras_model:
        if (method == "predict") return of_type(ValueType::array);
        break;
      default:
        break;
    }
    return unknown();
  }

  Value of_tensor_method(const Call& call, const Value& on) {
    switch (on_tensor(call.method())) {
      case OnTensor::number:
        return of_type(ValueType::number);
      case OnTensor::plain_tensor:
        return tensor(HasGraph::no);
      case OnTensor::array:
        return of_type(ValueType::array);
      case OnTensor::nothing:
        return of_type(ValueType::nothing);
      case OnTensor::tensor:
        break;
    }
    Value value = on;
    const std::string_view method = call.method();
    value.is_guessed = (on.is_guessed && !is_method_of_tensors(method)) || returns_several(call);
    value.on_device |= method == "cuda" || method == "to";
    if (method == "cpu") value.on_device = false;
    if (method == "requires_grad_") {
      value.graph = call.argument("requires_grad", 0).is_false() ? HasGraph::no : HasGraph::yes;
      value.leaf = true;
      return value;
    }
    if (call.under_no_grad()) {
      value.graph = HasGraph::no;
      return value;
    }
    // An operation on a parameter has a graph behind it.
    value.leaf = on.leaf && on.graph == HasGraph::no;
    if (takes_only_kind(method)) return value;
    for (const Expr& argument : call.arguments()) {
      const Value part = of(argument.id());
      if (part.is_tensor()) value.graph = joined(value.graph, part.graph);
    }
    return value;
  }

  // Its argument says the type, the device or the shape of the result, nothing else.
  static bool takes_only_kind(std::string_view method) {
    return method == "to" || method == "type_as" || method == "view_as" || method == "expand_as" ||
           method == "reshape_as";
  }

  // Calling an object.
  Value called(const Call& call, const Value& on) {
    switch (on.type) {
      case ValueType::module: {
        const bool off = call.under_no_grad() || is_frozen(call);
        Value value = tensor(off ? HasGraph::no : HasGraph::yes);
        const bool named_outputs =
            on.origin != kNone &&
            made_by(Call(&program_, on.origin).callee().dotted()) == Makes::transformer;
        if (named_outputs) value.type = ValueType::model_output;
        value.is_guessed = !named_outputs && !returns_tensor(on);
        return value;
      }
      case ValueType::loss_function: {
        Value value = tensor(graph_of_arguments(call));
        value.loss = true;
        return value;
      }
      case ValueType::keras_layer:
      case ValueType::keras_model: {
        for (const Expr& argument : call.arguments()) {
          if (of(argument.id()).type == ValueType::keras_tensor)
            return of_type(ValueType::keras_tensor);
        }
        return of_type(ValueType::tf_tensor);
      }
      default:
        return unknown();
    }
  }

  // Whether calling this module gives one tensor, as its class says.
  bool returns_tensor(const Value& module) {
    if (module.is_guessed || module.origin == kNone) return false;
    const Expr made = Call(&program_, module.origin).callee();
    if (returns_one_tensor(made.dotted())) return true;
    for (const PlaceBinding& binding : made.place().bindings()) {
      if (binding.how != Bound::class_definition) continue;
      for (const Expr& method : binding.target.child(Field::body).children()) {
        if (!method.is(Kind::function) || method.name() != "forward") continue;
        const Value result = returned(Function(&program_, method.id()));
        return result.type == ValueType::tensor && !result.is_guessed;
      }
    }
    return false;
  }

  // `backbone.requires_grad_(False)` before it is called, with data that has no graph.
  bool is_frozen(const Call& call) {
    const PlaceId place = program_.scopes->place_of(call.callee().id());
    if (place == kNone) return false;
    bool frozen = false;
    any_use(place, 0, call.id(), [&](const Call& other) {
      if (other.method() == "requires_grad_")
        frozen = other.argument("requires_grad", 0).is_false();
      return false;
    });
    return frozen && graph_of_arguments(call) == HasGraph::no;
  }

  const Program& program_;
  int depth_ = 0;
};

}  // namespace

Value value_of(const Program& program, std::uint32_t node) { return Evaluation(program).of(node); }

}  // namespace xleak::monitor::source
