// Figures that pyplot keeps open are never freed.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::figure_never_closed {
namespace {

// matplotlib warns from the same number on (rcParams["figure.max_open_warning"]).
constexpr int kManyFigures = 20;
// One or two may be drawn on still, and fewer bytes are what figures take.
constexpr int kFewFigures = 2;
constexpr std::int64_t kLargeBytes = 16 << 20;

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " open figures keep " + human(holder.held_bytes) +
         " alive in pyplot's registry. Free them with `" + holder.release +
         "`, or close each figure once it is saved.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings = holder_findings(session, {"figures", "Close them", message, kManyFigures});
  if (!findings.empty()) return findings;
  return holder_findings(session, {"figures", "Close them", message, kFewFigures, kLargeBytes});
}

using source::Field;
using source::Kind;

List<Call> figures_of(const SourceView& code) {
  return code.calls_to({"matplotlib.pyplot.figure", "matplotlib.pyplot.subplots",
                        "matplotlib.pyplot.subplot_mosaic", "seaborn.relplot", "seaborn.displot",
                        "seaborn.catplot", "seaborn.lmplot", "seaborn.jointplot",
                        "seaborn.pairplot", "seaborn.clustermap", "seaborn.FacetGrid",
                        "seaborn.PairGrid", "seaborn.JointGrid"});
}

// A figure of pyplot with a fixed number or title is made once and found again.
bool is_found_again(const Call& figure) {
  const Expr number = figure.argument("num", 0);
  if (figure.callee().name() == "figure") return number.integer() || number.is(Kind::string);
  const Expr named = figure.keyword("num");
  return named.integer() || named.is(Kind::string);
}

bool closes(const Call& call) {
  const std::string_view method = call.method();
  const std::string_view name = method.empty() ? call.callee().name() : method;
  for (const std::string_view word :
       {"close", "clf", "clear", "show", "pause", "add_figure", "pyplot"}) {
    if (name == word) return true;
  }
  return name.find("close") != std::string_view::npos || name.substr(0, 4) == "show";
}

bool is_closed_in(const SourceView& code, const Expr& spot) {
  const auto calls = code.calls_in(spot);
  return std::any_of(calls.begin(), calls.end(), closes);
}

// Whoever gets it may close it.
bool is_handed_out(const Call& figure) {
  for (const Expr& value : figure.function().returned()) {
    if (figure.is_inside(value)) return true;
    const Expr target = figure.target();
    for (const Expr& name : target.all(Kind::name)) {
      if (value.mentions(name.place())) return true;
    }
  }
  return figure.enclosing(Kind::yield) || figure.parent().is(Kind::return_statement);
}

bool is_saved_in(const SourceView& code, const Expr& spot) {
  const auto calls = code.calls_in(spot);
  return std::any_of(calls.begin(), calls.end(), [](const Call& call) {
    return call.method() == "savefig" || call.callee().name() == "savefig";
  });
}

// As many figures as matplotlib itself finds normal.
bool runs_seldom(const List<Loop>& loops) {
  long long iterations = 1;
  for (const Loop& loop : loops) {
    const auto of_loop = loop.iterations();
    if (!of_loop) return false;
    // Both stay small, so that a huge literal cannot overflow.
    constexpr long long kMore = kManyFigures + 1;
    iterations = std::min(iterations * std::min(*of_loop, kMore), kMore);
  }
  return iterations <= kManyFigures;
}

/// Where it is made again and again: the loops around it, or around the calls of its function.
struct Repetition {
  List<Loop> loops;
  Expr body;  ///< Of the innermost loop, or of the function.
};

Repetition repetition_of(const Call& figure) {
  const auto own = figure.loops();
  if (!own.empty()) return {own, own.front().body()};
  for (const Call& site : figure.function().call_sites()) {
    const auto loops = site.loops();
    if (!loops.empty() && !runs_seldom(loops)) return {loops, figure.function().body()};
  }
  return {};
}

bool is_closed(const SourceView& code, const Call& figure, const Repetition& repetition) {
  for (const Loop& loop : repetition.loops) {
    if (is_closed_in(code, loop.body())) return true;
  }
  return figure.function() && is_closed_in(code, figure.function().body());
}

// `plt` as the code calls it.
std::string pyplot_of(const Call& figure) {
  const Expr module = figure.callee().child(Field::object);
  return module.is_dotted({"matplotlib.pyplot"}) ? std::string(module.text()) : std::string();
}

std::string closing_of(const Call& figure) {
  const std::string pyplot = pyplot_of(figure);
  if (pyplot.empty()) return {};
  Expr target = figure.target();
  if (target.is(Kind::tuple)) target = target.first_child();
  return pyplot + ".close(" + std::string(target.text()) + ")";
}

// Closing a figure takes it from what is shown at the end of a cell, or by `plt.show()`.
std::string title(const SourceView& code) {
  const auto& magics = code.magics();
  const bool is_inline = std::any_of(magics.begin(), magics.end(), [](const MagicLine& magic) {
    return magic.name == "matplotlib";
  });
  if (code.is_notebook() || is_inline)
    return "Close it when done: the notebook no longer shows its picture";
  const auto& calls = code.calls();
  const bool is_shown = std::any_of(calls.begin(), calls.end(), [](const Call& call) {
    return call.callee().is_dotted({"matplotlib.pyplot.show"});
  });
  return is_shown ? "Close it when done: a later `show()` no longer shows its picture"
                  : "Close it when done";
}

void add_fix(const SourceView& code, const Call& figure, const Expr& body, Finding& finding) {
  const std::string closing = closing_of(figure);
  const auto statements = body.children();
  if (closing.empty() || statements.empty()) return;
  if (figure.statement().parent() != body) return;
  if (!statements.back().is(Kind::expression_statement)) return;
  const auto edit = statements.back().line_after(closing);
  if (!edit) return;
  finding.fixes.push_back({title(code), "", {*edit}, /*safe=*/false});
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& figure : figures_of(code)) {
    if (is_found_again(figure) || !figure.in_loop() || is_handed_out(figure)) continue;
    const Repetition repetition = repetition_of(figure);
    if (repetition.loops.empty() || runs_seldom(repetition.loops)) continue;
    if (is_closed(code, figure, repetition)) continue;
    Finding finding = figure.finding(
        "Each iteration opens one more figure, and pyplot's registry keeps it with its arrays: "
        "close "
        "it with `plt.close` when done, or make one before the loop and clear it.");
    // Without a file it is there to be looked at: the cell's end shows and closes it.
    if (!is_saved_in(code, repetition.body)) finding.severity = Severity::note;
    add_fix(code, figure, repetition.body, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL405", "figure_never_closed", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::figure_never_closed
