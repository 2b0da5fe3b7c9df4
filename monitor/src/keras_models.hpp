#pragma once
#include <string>
#include <vector>

#include "xleak/monitor/smell.hpp"

namespace xleak::monitor {

/// " Keras models that …": who keeps those of a holder, and how much.
std::string kept_keras_models(const Holder& holder);

/// Findings for the holders of one kind. What their models take beside their weights has no
/// counter, so the bytes of a finding are unknown; those with small weights are notes.
std::vector<Finding> keras_model_findings(const SessionView& session, const char* kind,
                                          std::string (*message)(const Holder&));

}  // namespace xleak::monitor
