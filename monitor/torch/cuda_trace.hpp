#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace xleak::libtorch {

/// Whether this build can follow CUDA's allocator at all.
bool follows_cuda() noexcept;

/// Starts to follow each device's live bytes for a cell, where torch was built for CUDA, the user
/// has initialised it and torch's own caching allocator is in use. Initialises nothing.
void begin_device_cell(int index);

/// The most that was live at once during the cell, by device as torch writes it ("cuda:0"), in
/// bytes: what torch's own counter "allocated_bytes" reached. Empty where the cell was not
/// followed from its start.
std::vector<std::pair<std::string, std::int64_t>> end_device_cell(int index);

}  // namespace xleak::libtorch
