// itertools.cycle remembers all that it went through: the data set, batch by batch.
#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::cycled_or_zipped_loader {
namespace {

// The loader, or its iterator.
bool gives_batches(const Expr& expression) {
  const Call call = expression.as_call();
  if (call && call.callee().is_dotted({"builtins.iter", "builtins.enumerate"}) &&
      !call.arguments().empty()) {
    return call.arguments().front().is_loader_like();
  }
  return expression.is_loader_like();
}

bool is_short(const Expr& expression) {
  const ValueType type = expression.value().type;
  return type == ValueType::list || type == ValueType::tuple || type == ValueType::dict ||
         type == ValueType::set || type == ValueType::text;
}

void cycled(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"itertools.cycle", "itertools.tee"})) {
    const auto arguments = call.arguments();
    if (arguments.empty() || !gives_batches(arguments.front()) || is_short(arguments.front()))
      continue;
    const std::string loader(arguments.front().text());
    findings.push_back(call.finding(
        "`" + std::string(call.callee().text()) + "(" + loader +
        ")` keeps every batch that it gave: the whole data set is in memory after one pass, and "
        "cycle repeats it in the same order. Write a generator: `while True: yield from " +
        loader + "`."));
  }
}

// Loaders of different lengths end with the shortest, and the workers of all of them run.
void zipped(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"builtins.zip"})) {
    const auto arguments = call.arguments();
    int loaders = 0;
    for (const Expr& argument : arguments)
      loaders += gives_batches(argument) && !is_short(argument);
    if (loaders < 2) continue;
    Finding finding = call.finding(
        "`zip` stops with the shortest of these loaders without a word, while the workers and "
        "queues of all of them are in memory.");
    finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

void listed(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& call : code.calls_to({"builtins.list"})) {
    const auto arguments = call.arguments();
    const Expr target = call.target();
    if (arguments.size() != 1 || !target.place() || !target.place().outlives(call)) continue;
    // A dictionary of loaders, or their names, is short.
    if (arguments.front().value().type != ValueType::loader) continue;
    findings.push_back(call.finding("`" + std::string(target.text()) +
                                    "` holds every batch of the loader at once. Go through the "
                                    "loader itself, or keep what you need of each batch."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  cycled(code, findings);
  if (!code.uses("torch")) return findings;
  zipped(code, findings);
  listed(code, findings);
  return findings;
}

std::string message(const Holder& holder) {
  const std::string free_it =
      holder.release.empty() ? "" : "Free them with `" + holder.release + "`. ";
  return "The itertools.cycle " + holder.label + " keeps " + std::to_string(holder.count) +
         " batches, " + human(holder.held_bytes) + ", to give the same ones again. " + free_it +
         "A generator goes through the loader again: `while True: yield from loader`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"cycle", "Let the iterator go", message});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL304", "cycled_or_zipped_loader", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::cycled_or_zipped_loader
