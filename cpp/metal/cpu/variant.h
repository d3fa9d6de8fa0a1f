// The variants of a kernel's code, and the choice of one by the size of the threadgroups.
#pragma once

#include <cstdint>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// What threads of a kernel do with each other.
enum class Cooperation : uint32_t { None, Barriers, SimdGroups };

// How threads are dealt out to the lanes of vector code.
enum class ThreadLayout : uint32_t {
  Scalar,  // one thread at a time
  Rows,    // along x, what is left over one by one; only where threads do not cooperate
  Full,    // gangs of consecutive threads, each within a row, none left over
  Ragged,  // gangs of consecutive threads, wherever they are; lanes may be empty
};

struct Variant {
  ThreadLayout layout = ThreadLayout::Scalar;
  uint32_t width = 1;  // lanes of a gang
  // A power of two: the threadgroup's rows and those of all threadgroups before it have a multiple
  // of so many threads. Positions in the grid then are aligned like those in the threadgroup.
  uint32_t row_multiple = 1;

  bool operator==(const Variant&) const = default;
};

// Lanes of code for coherent threads, which keeps most values in scalars, from those of a gang.
// No more than a mask has bits.
constexpr uint32_t coherent_width(uint32_t width) { return width < 16 ? 4 * width : 64; }

// The variant for threadgroups of this size in a launch with rows of `row` threads, which the
// threadgroup may cut. `natural_width`: lanes that suit the vector registers.
Variant choose_variant(Cooperation cooperation, const uint32_t (&size)[3], uint32_t row,
                       uint32_t natural_width);

}  // namespace metal::cpu
