// ipywidgets' registry keeps each widget until it is closed, whether anybody can see it or not.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::widget_or_bar_keeps_data {
namespace {

std::string message(const Holder& holder) {
  return std::to_string(holder.count) + " of " + holder.label + " keep " +
         human(holder.held_bytes) + " alive, most of it by " + holder.largest +
         "; no name reaches them and no output shows them. Close them with the fix, and use one "
         "widget again, or type `widget.close()` before the next.";
}

// A name leads there, so that only the user knows whether they are still wanted.
std::string collected_message(const Holder& holder) {
  return holder.label + " has " + std::to_string(holder.count) + " open widgets (" +
         holder.largest + "), and those of earlier runs, which no output shows, keep " +
         human(holder.held_bytes) + " alive. Type `widget.close()` for each and take it out of " +
         holder.label + " once you are done with it.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  auto findings =
      holder_findings(session, {"widgets", "Close those that are out of sight", message});
  const auto more = holder_findings(session, {"collected widgets", "", collected_message});
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

using source::Kind;

// Fewer a reader sees at once.
constexpr long long kManyTurns = 5;

bool is_closed(const Call& widget) {
  return !widget.target().place().calls_of({"close", "__exit__"}).empty();
}

// A widget in the list of another one is shown and closed with that.
bool stands_alone(const Call& widget) {
  return !widget.target().is(Kind::tuple) && (widget.target() || widget.is_discarded());
}

void add_widgets(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& widget :
       code.calls_to({"ipywidgets.Output", "ipywidgets.Image", "ipywidgets.HTML",
                      "ipywidgets.Video", "ipywidgets.Audio", "ipywidgets.FloatProgress",
                      "ipywidgets.IntProgress", "ipywidgets.Textarea"})) {
    if (widget.loops().empty() || !stands_alone(widget) || is_closed(widget)) continue;
    if (widget.loops().front().iterations().value_or(kManyTurns) < kManyTurns) continue;
    findings.push_back(widget.finding(
        "Each iteration makes one more `" + std::string(widget.callee().name()) +
        "`, and the registry of widgets keeps it with its content until `close()`. Make one "
        "before the loop and set its value."));
  }
}

void add_handles(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& shown : code.calls_to({"IPython.display.display"})) {
    if (shown.loops().empty() || !shown.keyword("display_id").is_true()) continue;
    findings.push_back(
        shown.finding("Each iteration adds one more display that can be updated. Show one before "
                      "the loop, and call "
                      "`update` on it."));
  }
}

// `%%capture pictures`
void add_captures(const SourceView& code, std::vector<Finding>& findings) {
  for (const MagicLine& magic : code.magics()) {
    if (magic.name != "capture") continue;
    const std::string name = magic.rest.substr(0, magic.rest.find(' '));
    if (name.empty() || name.front() == '-') continue;
    Finding finding = magic.finding(
        "`" + name + "` keeps all that the cell prints and draws, pictures too. Type `del " + name +
        "` once it is looked at.");
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  add_widgets(code, findings);
  add_handles(code, findings);
  add_captures(code, findings);
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL414", "widget_or_bar_keeps_data", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::widget_or_bar_keeps_data
