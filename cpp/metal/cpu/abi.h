// Binary interface between compiled kernels and the CPU runtime. Generated code reads these structs
// by offset.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metal::cpu {

inline constexpr uint32_t kSimdWidth = 32;
inline constexpr uint32_t kMaxBuffers = 31;
// Bytes that can be read on both sides of a threadgroup's memory.
inline constexpr uint64_t kThreadgroupMargin = 65536;
// Threads of threadgroups that run as one.
inline constexpr uint32_t kMaxCoarsenedThreads = 2048;

inline constexpr uint32_t kUnknownThread = ~uint32_t{0};

// Constant during one dispatch.
struct Launch {
  void* buffers[kMaxBuffers];  // by [[buffer(n)]]; null where nothing is bound
  uint32_t
      threadgroup_offsets[kMaxBuffers];  // by [[threadgroup(n)]]: byte offset into Group::memory
  uint32_t threads_per_grid[3];
  uint32_t threads_per_threadgroup[3];  // as dispatched; edge threadgroups may be smaller
  uint32_t threadgroups_per_grid[3];
  uint32_t grid_origin[3];
  // 0 where results are so many that stores should go past the caches; else all bits are set.
  uint64_t cached_stores;
  // Threads from a threadgroup to the one that runs next, where that is not its neighbour; else 0.
  uint64_t order_stride;
};

// Floats that share a lock while they are added to.
inline constexpr uintptr_t kRegionSize = 512;  // bytes: most rows need but one

// Additions to floats in device memory that wait to be made together: so they share locks.
struct Additions {
  static constexpr uint32_t kMost = 64;  // below it between any two of them
  static constexpr uint32_t kRow = 32;   // floats in a row, all of one region

  // How many there are, with those at the start of the lists that are none: generated code has them
  // made when the lists are full.
  uint32_t rows;
  uint32_t scalars;
  float* row[kMost];
  float* place[kMost];  // of scalars
  float value[kMost];
  alignas(64) float addends[kMost][kRow];
  uint32_t none;  // kMost - 1 where none may wait, else 0
};

// One threadgroup while it runs on one worker.
struct Group {
  const Launch* launch;
  char* memory;          // threadgroup memory; statically declared variables come first
  uint32_t position[3];  // threadgroup_position_in_grid
  uint32_t size[3];      // threads in this threadgroup, clipped at the edge of the grid
  void* scheduler;       // the runtime's own: fibres of this threadgroup
  // One of the same size that this worker runs afterwards, or this one: code may fetch what it will
  // read.
  const Group* next;
  Additions* additions;  // this worker's
  uint32_t thread;       // linear index of the one that runs, for messages: where code keeps it
};

// What one call of a compiled kernel covers.
enum class Granularity : uint32_t { Group, Thread };

// `thread` is 0, or the thread's linear index in its threadgroup.
using EntryPoint = void (*)(const Group* group, uint32_t thread);

}  // namespace metal::cpu
