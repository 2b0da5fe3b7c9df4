#pragma once
#include <cstdint>

constexpr std::int64_t kMiB = 1 << 20;
