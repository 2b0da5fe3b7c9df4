#pragma once

/// Marks what libxleak_monitor.so offers to the modules around it.
#define XLEAK_MONITOR_API __attribute__((visibility("default")))
