// Where segments begin: from their lengths, or from an index for each row.
#pragma once

#include <utility>

#include "indices.h"

namespace mlx_sample {

// What an operation expects of the lengths of segments.
struct LengthsArgument {
  const char* operation;
  const char* name;
  int64_t total;     // what they sum to
  const char* what;  // what there are `total` of, for messages
  bool trusted = false;
};

// Offsets (K + 1,) int32 of segments of the given lengths (K,), which are checked as indices are:
// at once if known, else when they are evaluated.
mx::array segment_offsets(const mx::array& lengths, const LengthsArgument& argument);

// The sum of lengths, which it evaluates.
int64_t sum_of_lengths(const mx::array& lengths, const char* operation, const char* name,
                       bool trusted);

// Sorts rows by their index in [0, count), keeping the order of equal ones: the rows' numbers (T,)
// and the offsets (count + 1,) of each index' rows among them, both int32.
std::pair<mx::array, mx::array> group_rows(const mx::array& index, int count);

}  // namespace mlx_sample
