#include <iterator>

#include "smell_list.inc"
#include "xleak/monitor/session.hpp"

namespace xleak::monitor {

std::vector<const Smell*> all_smells() {
  return {std::begin(smells::kAll), std::end(smells::kAll)};
}

}  // namespace xleak::monitor
