// What kernels with coverage have run, by the lines of their sources.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "metal/api.h"

namespace metal {

struct LineCoverage {
  uint32_t line = 0;
  uint64_t count = 0;    // of threads, each as often as it ran the line
  double lanes = 0;      // of a SIMD-group that ran it together, on average
  uint64_t read = 0;     // bytes, of device and threadgroup memory
  uint64_t written = 0;  // likewise
  std::string access{};  // how neighbouring lanes touch device memory; empty if they do not
};

struct BranchCoverage {
  uint32_t line = 0;
  uint32_t column = 0;
  std::vector<uint64_t> taken;  // of threads, by successor: that of a true condition first
};

// A file of a source, or what has the name of one there.
struct FileCoverage {
  std::string file;
  std::string text;
  std::map<std::string, uint64_t> kernels;  // how many launches
  std::vector<LineCoverage> lines{};        // those with code, in their order
  std::vector<BranchCoverage> branches{};
};

// Everything since the process began, or the last reset.
METAL_API std::vector<FileCoverage> coverage();
METAL_API void reset_coverage();

// As lcov's tools read it. Files that do not exist are written to a folder beside it, as genhtml
// shows them. Throws std::runtime_error if it cannot be written.
METAL_API void write_coverage(const std::string& path);

// Once the process ends, to the file that MLX_COVERAGE names; if it does not, and `always`, to
// "coverage.info". Later calls do nothing.
void write_coverage_at_exit(bool always);

// The source with what is known of each line before it.
METAL_API std::string annotate(const FileCoverage& file);

}  // namespace metal
