// Offsets of segments: from their lengths, or from an index for each row.
#pragma once

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

// Rows sorted by an index in [0, count); those with the same index keep their order.
struct Groups {
  mx::array order;    // the rows' numbers (T,) int32
  mx::array offsets;  // for each index the offset of its rows in the order (count + 1,) int32
};

// For a stream of a device with memory of its own, the device sorts; for others, the host does.
Groups group_rows(const mx::array& index, int count, mx::Stream stream);

}  // namespace mlx_sample
