// tf.function is applied again in each iteration: what it traced the last time is thrown away.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::tf_function_built_in_loop {
namespace {

using source::Kind;

// A function for each of a few models or phases is what the code says, not a pile.
constexpr long long kFewModels = 4;

// The iteration itself loops over its function many times: the trace pays off.
bool is_used_in_inner_loop(const Place& function, const Expr& site) {
  const std::size_t depth = site.loops().size();
  for (const Expr& use : function.uses()) {
    const bool together = site.loops().empty() ? use.function() == site.function()
                                               : use.is_inside(site.loops().front());
    if ((together && use.loops().size() > depth) ||
        (use.function() != site.function() && use.in_loop()))
      return true;
  }
  return false;
}

bool is_memoised(const Function& function) {
  for (const Expr& decorator : function.decorators()) {
    const Expr what = decorator.as_call() ? decorator.as_call().callee() : decorator;
    if (what.is_dotted({"functools.lru_cache", "functools.cache"})) return true;
  }
  return false;
}

// It is put away for later, or handed to whoever called.
bool is_handed_on(const Expr& compiled) {
  const Expr above = compiled.parent();
  if (above.is(Kind::return_statement) || above.is(Kind::comprehension) || above.is(Kind::pair) ||
      above.is(Kind::list) || above.is(Kind::tuple))
    return true;
  const Expr target = compiled.as_call().target();
  if (target.is(Kind::subscript) || target.is(Kind::attribute)) return true;
  const Call taker = above.as_call();
  return taker && taker.callee() != compiled;
}

Expr surroundings(const Expr& site) {
  const auto loops = site.loops();
  return loops.empty() ? site.function().body() : loops.front().body();
}

bool is_repeated(const Expr& site) {
  return !site.is_guarded() && tensorflow::repeats(site, kFewModels) &&
         !is_memoised(site.function());
}

bool is_bad(const Place& name, const Expr& site) {
  if (!is_repeated(site)) return false;
  return !name ||
         !(is_used_in_inner_loop(name, site) || tensorflow::is_kept(name, surroundings(site)));
}

Finding told(const Expr& site, const std::string& what) {
  return site.finding(
      what +
      " is compiled again in each iteration: nothing of the last trace is used again, "
      "which costs time and memory. Apply `tf.function` once, outside, and hand over "
      "what changes as arguments.");
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("tensorflow.function")) return findings;
  for (const Function& function : code.functions()) {
    for (const Expr& decorator : function.decorators()) {
      if (!tensorflow::is_tf_function(decorator)) continue;
      if (is_bad(function.place(), function) && !function.is_method())
        findings.push_back(told(function, "`" + std::string(function.name()) + "`"));
    }
  }
  for (const Call& call : code.calls_to({"tensorflow.function"})) {
    const Expr wrapped = call.argument("func", 0);
    if (!wrapped || is_handed_on(call)) continue;
    if (is_bad(call.target().place(), call))
      findings.push_back(told(call, "`" + std::string(call.text().substr(0, 40)) + "`"));
  }
  return findings;
}

// The graphs of the iterations before are gone: what is lost is time.
constexpr std::int64_t kBytesUnknown = 0;

std::string message(const Holder& holder) {
  return "`" + holder.largest + "` was compiled again and traced in at least " +
         std::to_string(holder.count) +
         " calls in a row: each function that `tf.function` makes begins without traces. Make it "
         "once, before the loop, and pass what changes as tensors.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule rule{"rebuilt function", "", message, 0, kBytesUnknown};
  return holder_findings(session, rule.as(Severity::note));
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL531", "tf_function_built_in_loop", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::tf_function_built_in_loop
