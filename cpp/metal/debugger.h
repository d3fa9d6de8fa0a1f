// Stops threads of kernels for a debugger, which waits for them on another thread of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metal/api.h"
#include "metal/checks.h"

namespace metal {

// A function that a thread runs: the innermost one is the last.
struct DebugFrame {
  const char* description;          // JSON, see compiler/mark_stops.h
  uint32_t site = 0;                // where it is, by the numbers there
  std::vector<uint64_t> addresses;  // of its variables, likewise; 0 until they are declared
};

struct DebugStop {
  std::string kernel;
  std::string source;
  uint32_t grid[3] = {};    // the thread's position
  bool breakpoint = false;  // else a step has ended
  std::vector<DebugFrame> frames;
};

struct Breakpoint {
  std::string file;  // or the kernel; "" is any
  uint32_t line = 0;
};

// What ends the next stop, besides breakpoints.
enum class DebugResume : uint32_t {
  Continue,
  Step,    // the thread's next line
  Next,    // the next one that is not in a function that this line calls
  Finish,  // the next one after the function has returned
};

METAL_API void set_breakpoints(std::vector<Breakpoint> breakpoints);
// Only the thread at this position in the grid stops. By default the first one to come to a
// breakpoint is chosen.
METAL_API void choose_debugged_thread(std::optional<std::vector<uint32_t>> position);
METAL_API std::optional<std::vector<uint32_t>> debugged_thread();
// A thread that has stopped; none after this time.
METAL_API std::optional<DebugStop> wait_for_stop(double seconds);
METAL_API void resume(DebugResume how);

}  // namespace metal
