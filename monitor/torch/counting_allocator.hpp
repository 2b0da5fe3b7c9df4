#pragma once
#include <cstdint>

namespace c10 {
class DataPtr;
}

namespace xleak::libtorch {

/// Puts an allocator that counts before torch's CPU allocator. A second call does nothing and
/// returns false. Throws std::runtime_error where the blocks of torch's cannot be followed.
bool install_allocator();

/// Whether torch allocates through the counting allocator now.
bool allocator_installed() noexcept;

/// Counts a block that torch allocated before install_allocator, as one of this cell. Leaves memory
/// that came from elsewhere (NumPy, a file, shared memory) alone and returns false.
bool adopt(c10::DataPtr& data, std::int64_t bytes, int cell) noexcept;

}  // namespace xleak::libtorch
