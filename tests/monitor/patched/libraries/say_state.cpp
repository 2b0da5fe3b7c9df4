// Installs the ledger and says in one line what came of it.
#include <cstdio>

#include "xleak/monitor/large_blocks.hpp"

int main() {
  const auto state = xleak::monitor::install_ledger();
  std::printf("%s\n", state.installed ? "installed" : state.reason.c_str());
  return 0;
}
