// A search on all cores copies data, framework and device context for each of them.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::unbounded_grid_search {
namespace {

using source::Kind;

List<Call> searches_of(const SourceView& code) {
  return code.calls_to(
      {"sklearn.model_selection.GridSearchCV", "sklearn.model_selection.RandomizedSearchCV",
       "sklearn.model_selection.HalvingGridSearchCV",
       "sklearn.model_selection.HalvingRandomSearchCV", "sklearn.model_selection.cross_val_score",
       "sklearn.model_selection.cross_val_predict", "sklearn.model_selection.cross_validate",
       "sklearn.model_selection.learning_curve", "sklearn.model_selection.validation_curve",
       "skopt.BayesSearchCV", "joblib.Parallel"});
}

// -1 is all cores, -2 all but one.
bool is_all_cores(const Expr& n_jobs) {
  return n_jobs.is(Kind::unary) && n_jobs.op() == source::Operator::subtract &&
         !n_jobs.children().empty() && n_jobs.first_child().is(Kind::integer);
}

// What the search fits: where it is made, with all that it is made of.
Expr estimator_of(const Call& search) {
  const Expr given = search.argument("estimator", 0);
  const Call made = given.as_call() ? given.as_call() : given.made_by();
  return made ? Expr(made) : given;
}

bool needs_device(const Expr& estimator) {
  for (const Expr& spot : estimator.all(Kind::call)) {
    const std::string_view dotted = spot.as_call().callee().dotted();
    const std::string_view package = dotted.substr(0, dotted.find('.'));
    const std::string_view last = dotted.substr(dotted.rfind('.') + 1);
    if (package == "scikeras" || package == "skorch" || last == "KerasClassifier" ||
        last == "KerasRegressor") {
      return true;
    }
  }
  return false;
}

Expr inner_jobs(const Expr& estimator) {
  for (const Expr& spot : estimator.all(Kind::call)) {
    const Expr n_jobs = spot.as_call().keyword("n_jobs");
    if (is_all_cores(n_jobs)) return n_jobs;
  }
  return {};
}

void offer(const std::string& title, const Expr& n_jobs, const char* number, Finding& finding) {
  finding.fixes.push_back({title, "", {n_jobs.replaced_by(number)}});
  finding.fixes.back().safe = false;
}

Finding of_search(const Call& search, const Expr& n_jobs) {
  const Expr estimator = estimator_of(search);
  if (needs_device(estimator)) {
    Finding finding = search.finding(
        "One process for each core, and each loads the framework, the data and a context on the "
        "device. Say how many the memory has room for: `n_jobs=2`.");
    finding.severity = Severity::warning;
    offer("Run two at a time", n_jobs, "2", finding);
    return finding;
  }
  if (inner_jobs(estimator)) {
    Finding finding = search.finding(
        "Both the search and its estimator take all cores: that is cores times cores threads, and "
        "a copy of the data for each process. Leave one of them at `n_jobs=1`.");
    finding.severity = Severity::warning;
    offer("Let the estimator alone use all cores", n_jobs, "1", finding);
    return finding;
  }
  return search.finding(
      "One worker for each core, each with its part of the data: on large data say how many, "
      "and how many tasks wait (`pre_dispatch`).");
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& search : searches_of(code)) {
    const Expr n_jobs = search.keyword("n_jobs");
    if (!is_all_cores(n_jobs) || search.keyword("pre_dispatch")) continue;
    findings.push_back(of_search(search, n_jobs));
  }
  return findings;
}

// What other processes take is in no counter of this one.
constexpr std::int64_t kBytesUnknown = 0;
// Workers that take half of the machine leave no room for what comes next.
constexpr std::int64_t kLargePart = 2;

std::string message(const Holder& holder) {
  const std::string size =
      holder.held_bytes > 0 ? ", " + human(holder.held_bytes) + " in all," : "";
  return std::to_string(holder.count) + " worker process" + (holder.count == 1 ? "" : "es") + size +
         " wait for another search. End them with `" + holder.release +
         "`, and say how many the memory has room for: `n_jobs=2`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  HolderRule rule{"search workers", "End the workers", message, 0, kBytesUnknown};
  if (session.ram_bytes) rule.warning_bytes = *session.ram_bytes / kLargePart;
  return holder_findings(session, rule);
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL520", "unbounded_grid_search", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::unbounded_grid_search
