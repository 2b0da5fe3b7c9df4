#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "xleak/monitor/large_blocks.hpp"

/// The ledger, for one test.
struct Installed {
  Installed() {
    const auto state = xleak::monitor::install_ledger();
    INFO(state.reason);
    REQUIRE(state.installed);
    xleak::monitor::births_belong_to(1);
  }
  ~Installed() { xleak::monitor::uninstall_ledger(); }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
};

constexpr std::size_t kMiB = 1 << 20;

/// Nobody can know what happens to a block, so that no compiler takes its allocation out.
inline void* kept(void* block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

inline std::optional<xleak::monitor::LargeBlock> known(const void* address) {
  for (const auto& block : xleak::monitor::living_blocks()) {
    if (block.address == reinterpret_cast<std::uintptr_t>(address)) return block;
  }
  return std::nullopt;
}
