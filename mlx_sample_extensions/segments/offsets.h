// Offsets of segments: from their lengths, or from an index for each row.
#pragma once

#include <utility>

#include "indices.h"

namespace mlx_sample {

// The requirements on the lengths of segments.
struct LengthsArgument {
  const char* operation;
  const char* name;
  int64_t total;     // their sum
  const char* what;  // what `total` counts, for messages
  bool trusted = false;
};

// Offsets (K + 1,) int32 of segments with the given lengths (K,). The lengths are checked like
// indices: now if they are known, else when they are evaluated.
mx::array segment_offsets(const mx::array& lengths, const LengthsArgument& argument);

// The sum of the lengths; evaluates them.
int64_t sum_of_lengths(const mx::array& lengths, const char* operation, const char* name,
                       bool trusted);

// Sorts rows by their index in [0, count), keeping the order of equal ones. Returns the rows'
// numbers (T,) and for each index the offset of its rows among them (count + 1,), both int32.
std::pair<mx::array, mx::array> group_rows(const mx::array& index, int count);

}  // namespace mlx_sample
