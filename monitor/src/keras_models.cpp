#include "keras_models.hpp"

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor {
namespace {

// As magics/xleak/shell/holders/keras_models.py writes it.
constexpr const char* kGarbage = "garbage";
constexpr std::int64_t kBytesUnknown = 0;
// Weights of less are no reason to interrupt anybody.
constexpr std::int64_t kWarningBytes = 1 << 20;

}  // namespace

std::string kept_keras_models(const Holder& holder) {
  const std::string weights = human(holder.held_bytes) + " of weights and optimizer slots, ";
  if (holder.largest == kGarbage)
    return " Keras models that nothing uses any more: " + weights +
           "their layers and graphs wait for the garbage collector.";
  return " Keras models that only the `History` of their training keeps, as `" + holder.largest +
         "` does: " + weights +
         "layers and graphs. Keep `.history` of it, a dictionary of numbers.";
}

std::vector<Finding> keras_model_findings(const SessionView& session, const char* kind,
                                          std::string (*message)(const Holder&)) {
  auto findings = holder_findings(session, {kind, "Let the models go", message, 0, kBytesUnknown});
  for (Finding& finding : findings) {
    for (const Holder& holder : session.holders) {
      if (holder.label == finding.key && holder.held_bytes < kWarningBytes)
        finding.severity = Severity::note;
    }
  }
  return findings;
}

}  // namespace xleak::monitor
