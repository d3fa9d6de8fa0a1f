// Scaled dot-product attention that a library of the device computes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "metal/matrix_product.h"

namespace metal {

// The arrays are queries (batches, heads, queries, depth), keys and values (batches, heads /
// sharing, keys, depth), and an output like the queries. Sums are float32.
struct Attention {
  // Distances in elements; those of a position are adjacent.
  struct Steps {
    int64_t batch = 0, head = 0, position = 0;
  };

  MatrixType type = MatrixType::Float16;  // or Bfloat16
  int64_t batches = 1, heads = 1;
  int64_t sharing = 1;  // so many heads of queries share a head of keys
  int64_t queries = 1, keys = 1, depth = 1;
  float scale = 1;      // of the scores
  bool causal = false;  // query i sees the keys up to i + keys - queries, which is not negative
  Steps query_steps, key_steps, value_steps, output_steps;
};

// How a library computes one kind of attention.
class AttentionPlan {
 public:
  virtual ~AttentionPlan() = default;

  virtual size_t workspace_bytes() const = 0;
  // The work of a LibraryCall. Its buffers are the queries, the keys, the values, the output, and
  // workspace of that size.
  virtual void start(void* queue, void* const* buffers) const = 0;
};

}  // namespace metal
