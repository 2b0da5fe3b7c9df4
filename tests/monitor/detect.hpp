#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "units.hpp"
#include "xleak/monitor/session.hpp"

/// What the smell with a code finds in a view of a session.
inline std::vector<xleak::monitor::Finding> detect(std::string_view code,
                                                   const xleak::monitor::SessionView& view) {
  for (const xleak::monitor::Smell* smell : xleak::monitor::all_smells()) {
    if (smell->code == code) return smell->at_run_time(view);
  }
  FAIL("the smell is not in the list");
  return {};
}

/// What it finds after cell 6, where one holder is all that is known.
inline std::vector<xleak::monitor::Finding> detect(std::string_view code,
                                                   const xleak::monitor::Holder& holder) {
  xleak::monitor::SessionView view;
  view.cell = 6;
  view.holders = {holder};
  return detect(code, view);
}
