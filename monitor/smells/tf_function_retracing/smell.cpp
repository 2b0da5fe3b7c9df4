// A compiled function is called with a Python number that changes: each value is traced again.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::tf_function_retracing {
namespace {

using source::Bound;
using source::Kind;

// TensorFlow itself warns of retracing after the fifth trace.
constexpr long long kFewTraces = 5;

bool has_signature(const Expr& compiled) {
  return static_cast<bool>(compiled.as_call().keyword("input_signature"));
}

// The number of the iteration: of range(), the first of enumerate().
bool counts_iterations(const Place& place, const Loop& loop) {
  const Call over = loop.iterable().as_call();
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how != Bound::loop || !binding.target.is_inside(loop.target())) continue;
    if (over.callee().is_dotted({"builtins.range"})) return true;
    if (over.callee().is_dotted({"builtins.enumerate"}) && binding.position == 0) return true;
  }
  return false;
}

// `step += 1`, of a name that began as a whole number.
bool is_counted_up(const Place& place, const Loop& loop) {
  bool began = false;
  bool grows = false;
  for (const PlaceBinding& binding : place.bindings()) {
    if (binding.how == Bound::assign && binding.value.integer()) {
      began = true;
    } else if (binding.how == Bound::augmented && binding.value.integer() &&
               binding.target.is_inside(loop.body())) {
      grows = true;
    } else {
      return false;
    }
  }
  return began && grows;
}

bool is_changing_name(const Expr& expression, const List<Loop>& loops) {
  if (!expression.place()) return false;
  for (const Loop& loop : loops) {
    if (counts_iterations(expression.place(), loop) || is_counted_up(expression.place(), loop))
      return true;
  }
  return false;
}

// `float(loss)`, `rate.item()`, an f-string of what the iteration brings.
bool is_made_a_python_value(const Expr& expression, const Loop& loop) {
  if (expression.is(Kind::format_string)) return tensorflow::depends_on(expression, loop);
  const Call call = expression.as_call();
  if (!call) return false;
  const bool converts = call.callee().is_dotted({"builtins.float", "builtins.int", "builtins.str"});
  return (converts || (call.method() == "item" && call.arguments().empty())) &&
         tensorflow::depends_on(expression, loop);
}

bool changes(const Expr& expression, const List<Loop>& loops) {
  if (expression.is(Kind::list) || expression.is(Kind::tuple) || expression.is(Kind::binary)) {
    bool plain = true;
    bool any = false;
    for (const Expr& part : expression.children()) {
      const bool here = changes(part, loops);
      any |= here;
      plain &= here || part.is_literal();
    }
    // A tensor in a sum makes a tensor of it.
    return any && (plain || !expression.is(Kind::binary));
  }
  return is_changing_name(expression, loops) || is_made_a_python_value(expression, loops.front());
}

Expr changing_argument(const Call& call, const List<Loop>& loops) {
  for (const Expr& child : call.children()) {
    if (child == call.callee()) continue;
    const Expr argument = child.is(Kind::keyword) ? child.child(source::Field::right) : child;
    if (changes(argument, loops)) return argument;
  }
  return {};
}

// `fast = tf.function(step)`: the calls of `fast`.
List<Call> calls_of_compiled(const Call& wrapping) {
  List<Call> calls;
  const Place place = wrapping.target().place();
  for (const Expr& use : place.uses()) {
    const Call call = use.parent().as_call();
    if (call && call.callee() == use) calls.push_back(call);
  }
  return calls;
}

Finding told(const SourceView& code, const Call& call, const Expr& argument) {
  Finding finding =
      call.finding("`" + std::string(argument.text()) + "` is a Python value that changes: `" +
                   std::string(call.callee().text()) +
                   "` traces another graph for each, and none is dropped. Hand it over as a tensor "
                   "(`tf.constant`, `tf.range`), or give `tf.function` an `input_signature`.");
  const std::string_view tf = code.imported_as("tensorflow");
  if (!tf.empty()) {
    const std::string text = std::string(tf) + ".constant(" + std::string(argument.text()) + ")";
    finding.fixes.push_back(
        {"Hand it over as a tensor", "", {argument.replaced_by(text)}, /*safe=*/false});
  }
  return finding;
}

List<Call> retraced_calls(const SourceView& code) {
  List<Call> calls;
  for (const Function& function : code.functions()) {
    for (const Expr& decorator : function.decorators()) {
      if (!tensorflow::is_tf_function(decorator) || has_signature(decorator)) continue;
      const auto sites = function.call_sites();
      calls.insert(calls.end(), sites.begin(), sites.end());
    }
  }
  for (const Call& wrapping : code.calls_to({"tensorflow.function"})) {
    if (has_signature(wrapping)) continue;
    const auto sites = calls_of_compiled(wrapping);
    calls.insert(calls.end(), sites.begin(), sites.end());
  }
  return calls;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("tensorflow.function")) return findings;
  for (const Call& call : retraced_calls(code)) {
    const auto loops = call.loops();
    if (loops.empty() || !tensorflow::repeats(call, kFewTraces)) continue;
    // While a graph is traced the loop runs once for all.
    if (tensorflow::becomes_graph(code, call)) continue;
    if (const Expr argument = changing_argument(call, loops))
      findings.push_back(told(code, call, argument));
  }
  return findings;
}

// Graphs lie outside of what is measured.
constexpr std::int64_t kBytesUnknown = 0;

std::string of_arguments(const Holder& holder) {
  return "One cell had `" + holder.largest + "` traced again and again; it keeps " +
         std::to_string(holder.count) +
         " graphs, one for each Python value and each shape. Pass numbers as tensors, or set "
         "`reduce_retracing=True` or an `input_signature`.";
}

std::string of_objects(const Holder& holder) {
  return "`" + holder.largest + "` was traced in at least " + std::to_string(holder.count) +
         " calls in a row: each new object has a function of its own. Make the object once, or "
         "compile a function that takes its tensors.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const char* fix_title = "delete the function and its graphs";
  const HolderRule method{"retraced method", "", of_objects, 0, kBytesUnknown};
  // The graphs of methods go with the objects.
  return holder_findings(session, {{"retraced function", fix_title, of_arguments, 0, kBytesUnknown},
                                   method.as(Severity::note)});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL530", "tf_function_retracing", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::tf_function_retracing
