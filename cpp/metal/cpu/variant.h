// The variants of a kernel's code, and the choice of one by the size of the threadgroups.
#pragma once

#include <cstdint>

#include "metal/api.h"
#include "metal/checks.h"
#include "metal/cpu/abi.h"

namespace metal::cpu {

// How the threads of a kernel depend on each other.
enum class Cooperation : uint32_t { None, Barriers, SimdGroups };

// What gangs depend on.
struct GangTraits {
  Cooperation cooperation = Cooperation::None;
  uint32_t natural_width = 1;  // lanes that suit the processor's vector registers
  // The most lanes of gangs that wait at barriers. Longer ones would span several of the rows into
  // which the kernel divides the rows of its threads, and read several rows of a tile at once.
  uint32_t widest_waiting = kSimdWidth;
  // The dimension along which neighbouring threadgroups access neighbouring memory.
  uint32_t group_dimension = 0;
};

// How threads are assigned to the lanes of vector code.
enum class ThreadLayout : uint32_t {
  Scalar,  // one thread at a time
  Rows,    // gangs along x, the rest of a row one by one; only for independent threads
  Full,    // gangs of consecutive threads, each within a row; every lane has a thread
  Ragged,  // gangs of consecutive threads that may span rows; some lanes may have no thread
};

// More threads than most grids have. Products with the elements of a thread's run do not wrap
// around.
inline constexpr uint32_t kFewThreads = uint32_t{1} << 27;

// Threads of a row that are fewer run one by one.
inline constexpr uint32_t kNarrowestGang = 8;

// Neighbouring threadgroups along a dimension that run as one, so that the cache lines that they
// share are accessed once. Each keeps memory of its own.
struct JoinedGroups {
  uint32_t count = 1;
  uint32_t dimension = 0;  // x or y
  uint32_t size = 0;       // threads of each along it, a power of two

  bool any() const { return count > 1; }
  bool along(unsigned i) const { return any() && i == dimension; }
  bool operator==(const JoinedGroups&) const = default;
};

struct Variant {
  ThreadLayout layout = ThreadLayout::Scalar;
  uint32_t width = 1;  // lanes of a gang
  // A power of two that divides the length of the threadgroup's row, and the number of threads
  // before it in the row of the grid. So positions in the grid are aligned as those in the
  // threadgroup are.
  uint32_t row_multiple = 1;
  // The gangs in a row of the threadgroup, and its rows, if code may be made that runs several
  // gangs at once: see jam_gangs.h. Otherwise 0.
  uint32_t gangs_in_row = 0;
  uint32_t rows = 0;
  // Threads below each other, and behind each other, that code may run at once if they do not wait
  // for each other: see jam_rows.h. Both divide the threadgroup's size along their dimension.
  uint32_t rows_at_once = 1;
  uint32_t layers_at_once = 1;
  // SIMD-groups beside each other that code may run at once if they do not wait for each other: see
  // jam_gangs.h. Divides the number of those in the threadgroup's row.
  uint32_t gangs_at_once = 1;
  uint32_t jammed = 1;       // gangs that are run at once; the code generator decides
  JoinedGroups joined = {};  // all gangs must be jammed; otherwise there is no such code
  // No buffer that the kernel writes overlaps another one. Only of kernels in which this matters.
  bool separate_buffers = false;
  // Positions in the grid are below kFewThreads, so that small multiples of them do not wrap
  // around.
  bool few_threads = false;
  Checks checks = kNoChecks;  // that the code makes
  // They are those of a screen (checks/screen.h); exact ones only run with ThreadLayout::Scalar.
  bool screened = false;

  bool operator==(const Variant&) const = default;
};

// The width of code for coherent gangs of `width` lanes. Such code keeps most values in scalars, so
// it can be wider. At most the bits of a mask.
constexpr uint32_t coherent_width(uint32_t width) { return width < 16 ? 4 * width : 64; }

// Adds to the variant what is needed to run several gangs at once.
METAL_API void allow_jam(Variant& variant, const uint32_t (&size)[3]);

// Their elements fill a line of memory, or a part of it that pays.
inline constexpr uint32_t kMostAtOnce = 16;
inline constexpr uint32_t kFewestAtOnce = 4;
// Adds the rows and layers that may run at once.
void allow_columns(Variant& variant, const uint32_t (&size)[3]);
// Adds the SIMD-groups that may run at once.
METAL_API void allow_gangs_at_once(Variant& variant, const uint32_t (&size)[3]);

// The neighbouring threadgroups of this size, whose threads wait, that may run as one: so many that
// together they access whole cache lines. Each has so many bytes of threadgroup memory. Their sums
// must fit into the registers.
METAL_API JoinedGroups groups_to_join(const GangTraits& traits, const uint32_t (&size)[3],
                                      uint32_t bytes);

// The variant for threadgroups of this size in a launch whose rows have `row` threads; the last
// threadgroup of a row may be cut.
METAL_API Variant choose_variant(const GangTraits& traits, const uint32_t (&size)[3], uint32_t row);

}  // namespace metal::cpu
