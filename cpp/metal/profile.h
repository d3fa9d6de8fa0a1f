// A profile of kernels: when they ran, on which threads, and how often samples met each line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metal/api.h"

namespace metal {

struct ProfiledLine {
  std::string kernel;
  std::string file;   // as the compiler calls it; empty for code without lines
  uint32_t line = 0;  // likewise 0
  std::string text;
  uint64_t samples = 0;

  bool operator==(const ProfiledLine&) const = default;
};

// Times are in microseconds since the profile began.
struct ProfiledLaunch {
  struct Part {  // of it, on one thread of the CPU
    uint32_t thread = 0;
    double start = 0;
    double duration = 0;
    uint64_t threadgroups = 0;
  };
  std::string kernel;
  double start = 0;
  double duration = 0;
  uint32_t grid[3] = {};         // threads
  uint32_t threadgroup[3] = {};  // likewise
  std::vector<Part> parts;
  std::vector<ProfiledLine> lines;  // those with most samples first
};

struct Profile {
  double period = 0;  // microseconds between the samples of a thread
  std::vector<ProfiledLaunch> launches;
  std::vector<ProfiledLine> lines;  // of all launches, those with most samples first
};

// Kernels that are launched with kProfile from now on are timed. Throws std::runtime_error if a
// profile is being made already.
METAL_API void start_profile();
// Ends it. What still runs is left out.
METAL_API Profile stop_profile();

// As Chrome's trace events, in JSON: Perfetto opens them.
METAL_API std::string trace_of(const Profile& profile);
// A table of lines.
METAL_API std::string describe(const Profile& profile);

}  // namespace metal
