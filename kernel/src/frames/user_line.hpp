#pragma once
#include "user_files.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::frames {

/// Where this thread's innermost code of the user's is; 0 where it runs none, where Python does not
/// know the thread, and where lines are off. A monitor::SiteReader: it takes no reference,
/// allocates nothing, waits for nothing and needs no GIL.
monitor::SiteIndex user_line() noexcept;

/// From here on user_line() answers. The files are kept until the process ends.
void begin_reading(UserFiles files);

/// Ends it, and waits until no thread without the GIL is reading: what they read may be freed after
/// that. Wants the GIL.
void end_reading() noexcept;

/// Forgets what was found before, for measurements.
void forget_lines() noexcept;

}  // namespace xleak::frames
