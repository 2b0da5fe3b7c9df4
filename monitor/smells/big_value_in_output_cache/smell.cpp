// A value shown as a cell's result stays in Out[n] for the life of the session.
#include "xleak/monitor/smell.hpp"

#include <string>

#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::big_value_in_output_cache {
namespace {

// Below this the report costs the reader more than the memory costs the machine.
constexpr std::int64_t kWorthMentioningBytes = 1 << 20;
// A tenth of the machine in one forgotten value: a few more of them end the session.
constexpr std::int64_t kErrorShareOfRam = 10;

bool is_leak(const OutputEntry& entry) {
  return !entry.mentioned && entry.held_bytes >= kWorthMentioningBytes;
}

Severity severity_of(const OutputEntry& entry, const SessionView& session) {
  const bool dear = session.ram_bytes && entry.held_bytes >= *session.ram_bytes / kErrorShareOfRam;
  return dear ? Severity::error : Severity::warning;
}

std::string out(int number) { return "Out[" + std::to_string(number) + "]"; }

/// All that have to go for the memory to come back, as `%xdel` takes them.
std::string all_of(const OutputEntry& entry) {
  std::string names = out(entry.number);
  for (const int other : entry.together) names += " " + out(other);
  return names;
}

std::string who_keeps(const OutputEntry& entry) {
  if (entry.together.empty()) return out(entry.number) + " alone keeps ";
  const std::size_t others = entry.together.size();
  const std::string rest =
      others == 1 ? out(entry.together[0]) : std::to_string(others) + " other output entries";
  return out(entry.number) + " and " + rest + " together keep ";
}

Finding finding_of(const OutputEntry& entry, const SessionView& session) {
  const std::string key = out(entry.number);
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = entry.shown_cell;
  finding.line = entry.line;
  finding.bytes = entry.held_bytes;
  finding.holders = entry.holders;
  finding.path = {"Out", key.substr(3), entry.type_name};
  const std::string code = "%xdel " + all_of(entry);
  finding.message = who_keeps(entry) + human(entry.held_bytes) + " alive (" + entry.type_name +
                    "); nothing else names it. Free it with `" + code +
                    "`, or end the cell with `;`.";
  finding.fixes = {{"Release it", code}};
  finding.severity = severity_of(entry, session);
  finding.key = key;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const OutputEntry& entry : session.outputs) {
    if (is_leak(entry)) findings.push_back(finding_of(entry, session));
  }
  return findings;
}

using source::Kind;

bool is_large(const Value& value) {
  return value.is_tensor() || value.type == ValueType::array ||
         value.type == ValueType::tf_tensor || value.type == ValueType::module;
}

// What these return is a number, or a few rows.
bool makes_small(std::string_view name) {
  for (const std::string_view small :
       {"head",  "tail",  "describe", "info", "sum",    "mean", "std",   "var",    "min",
        "max",   "item",  "norm",     "any",  "all",    "prod", "size",  "median", "sample",
        "numel", "shape", "columns",  "dim",  "argmax", "eval", "train", "to",     "cuda"}) {
    if (name == small) return true;
  }
  return false;
}

bool is_one_element(const Expr& element) {
  const auto parts = element.children();
  return parts.size() == 2 && parts.back().is(Kind::integer);
}

bool shows_large(const Expr& shown) {
  switch (shown.kind()) {
    case Kind::name:
      return is_large(shown.value());
    case Kind::attribute:
      return is_large(shown.child(source::Field::object).value()) && !makes_small(shown.name()) &&
             (shown.name() == "T" || shown.name() == "values" || shown.name() == "weight" ||
              shown.name() == "grad" || shown.name() == "data");
    case Kind::subscript:
      return is_large(shown.value()) && !is_one_element(shown);
    case Kind::call:
      return shown.value().is_gradful() && !makes_small(shown.as_call().method()) &&
             !shown.value().loss;
    default:
      return false;
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.is_notebook()) return findings;
  for (const Expr& shown : code.displayed()) {
    if (!shows_large(shown)) continue;
    const bool has_graph = shown.value().is_gradful();
    Finding finding = shown.finding(
        "The shell keeps what a cell shows in `Out`" +
        std::string(has_graph ? ", here with its graph" : "") +
        ": deleting the name will not free it. Show a summary, or end the line with `;`.");
    // How large it is shows only when it runs.
    finding.severity = Severity::note;
    finding.fixes.push_back({"Do not show it", "", {shown.statement().followed_by(";")}});
    finding.fixes.back().safe = false;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL401", "big_value_in_output_cache", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::big_value_in_output_cache
