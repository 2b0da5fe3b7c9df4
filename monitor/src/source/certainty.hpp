#pragma once
#include <string_view>

#include "xleak/monitor/source.hpp"

namespace xleak::monitor::source {

/// Whether a method of this name is one of tensors: `x.cpu()`, `x.view(…)`.
bool is_method_of_tensors(std::string_view method);

/// A name is used as only a tensor can be: a method of tensors, an operand of a function of torch.
bool is_used_as_tensor(xleak::monitor::Place place);

/// An operation on tensors that returns several: `torch.max(x, 1)`, `x.split(2)`.
bool returns_several(const Call& call);

/// Calling an instance of this class of torch.nn returns one tensor, and no tuple.
bool returns_one_tensor(std::string_view dotted);

}  // namespace xleak::monitor::source
