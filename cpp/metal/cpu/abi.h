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
// From threadgroup memory to its shadow, which checked kernels have: see checks/shadow_memory.h.
inline constexpr uint64_t kThreadgroupShadow = 32768 + kThreadgroupMargin;
// Longest row of threads, in threadgroups that are coarsened into one.
inline constexpr uint32_t kMaxCoarsenedRow = 2048;
// The same where code with interchanged loops runs several of these at once: see Worker.
inline constexpr uint32_t kMaxJoinedRow = 8192;

inline constexpr uint32_t kUnknownThread = ~uint32_t{0};

// What a checked kernel's code knows of the memory behind an argument.
struct CheckedMemory {
  const void* begin;
  uint64_t bytes;
  // In screened code: 8 bytes for each byte, see stamp.h.
  uint64_t* written = nullptr;
  uint64_t* read = nullptr;
  // A byte for each byte from the argument's address on: see checks/shadow_memory.h.
  char* undefined = nullptr;
};

inline constexpr uint32_t kCheckedThreadgroup = 2 * kMaxBuffers;

// The arguments and sizes of one launch. Nothing here changes while it runs.
struct Launch {
  void* buffers[kMaxBuffers];  // by [[buffer(n)]]; null where nothing is bound
  uint32_t
      threadgroup_offsets[kMaxBuffers];  // by [[threadgroup(n)]]: byte offset into Group::memory
  uint32_t threads_per_grid[3];
  uint32_t threads_per_threadgroup[3];  // as dispatched; edge threadgroups may be smaller
  uint32_t threadgroups_per_grid[3];
  uint32_t grid_origin[3];
  // 0 if the results are so many that stores should be non-temporal; otherwise all bits are set.
  uint64_t cached_stores;
  // The distance in threads from a threadgroup to the one that runs next, if that is not its
  // neighbour; otherwise 0.
  uint64_t order_stride;
  // Of checked kernels, else null: by [[buffer(n)]] and, from kMaxBuffers on, by
  // [[threadgroup(n)]], where only the number of bytes counts. Behind them all of the threadgroup's
  // memory, where only the stamps do.
  const CheckedMemory* checked;
};

// Floats in one region share a lock while they are added to.
inline constexpr uintptr_t kRegionSize = 512;  // bytes: most rows lie in one region

// Deferred additions to floats in device memory. Those of one region are made under one lock, so
// many scalars wait: each lock is then taken for several of them.
struct Additions {
  static constexpr uint32_t kRow = 32;  // floats in a row, all of one region
  static constexpr uint32_t kMaxRows = 64;
  static constexpr uint32_t kMaxScalars = 4096;
  static constexpr uint32_t kMaxAtOnce = 64;  // scalars that the lanes of a gang append

  // The lengths of the two lists. Generated code makes all additions when one is full.
  uint32_t rows;
  uint32_t scalars;
  // The lengths of full lists: 1 if no addition may be deferred.
  uint32_t full_rows;
  uint32_t full_scalars;
  // What is before these entries belongs to threadgroups that have ended.
  uint32_t ended_rows;
  uint32_t ended_scalars;
  float* row[kMaxRows];
  alignas(64) float addends[kMaxRows][kRow];
  // Of the scalars.
  float* place[kMaxScalars];
  float value[kMaxScalars];
};

// One threadgroup while it runs on one worker.
struct Group {
  const Launch* launch;
  char* memory;          // threadgroup memory; statically declared variables come first
  uint32_t position[3];  // threadgroup_position_in_grid
  uint32_t size[3];      // threads in this threadgroup, clipped at the edge of the grid
  void* scheduler;       // owned by the runtime: the fibres of this threadgroup
  // The threadgroup of the same size that this worker runs next, or this one if there is none. Code
  // may prefetch what that will read.
  const Group* next;
  Additions* additions;  // of this worker
  // In screened code: the barriers that threads which have ended came to. The first entry is for
  // the threadgroup, the others for its SIMD-groups.
  uint32_t* histories;
  uint32_t thread;  // linear index of the running thread, for messages; set if code records it
};

// What one call of a compiled kernel runs.
enum class Granularity : uint32_t { Group, Thread };

// `thread` is 0, or the thread's linear index in its threadgroup.
using EntryPoint = void (*)(const Group* group, uint32_t thread);

}  // namespace metal::cpu
