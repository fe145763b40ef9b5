// The machine and the build that a benchmark ran with, for its results.
#pragma once

#include <nlohmann/json.hpp>

namespace rowbloom::bench {

// True if the benchmarks were built with optimisation and without assertions:
// times of other builds mean nothing.
#if defined(__OPTIMIZE__) && defined(NDEBUG)
inline constexpr bool kOptimised = true;
#else
inline constexpr bool kOptimised = false;
#endif

// CPU, caches and operating system. Values that cannot be found out are
// "unknown" or missing.
nlohmann::ordered_json MachineJson();

// Compiler, flags, commit (ROWBLOOM_COMMIT, or else the one that was checked
// out when CMake ran), RocksDB, and the active kernel.
nlohmann::ordered_json BuildJson();

}  // namespace rowbloom::bench
