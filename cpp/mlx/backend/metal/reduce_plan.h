// How a reduction is computed: the order of kept and reduced dimensions, and one pass or two.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mlx/array.h"
#include "mlx/backend/metal/command_encoder.h"
#include "mlx/backend/metal/kernels/reduce.h"

namespace mlx::core {

// The shared ones are for GPUs: the threads of a threadgroup share an output, or neighbouring ones;
// or the lanes of a SIMD-group share a row.
enum class ReduceLayout { Row, Column, General, SharedRow, SharedColumn, SharedByLanes };

struct ReducePlan {
  ReduceLayout layout;
  ReduceParams params;
  std::vector<ReduceStrides> strides;
  size_t x, y, z;  // grid of outputs, without splits
  size_t work;     // elements per output

  // Whether both combine the elements of an output in the same order.
  bool has_order_of(const ReducePlan& other) const;
  // Binds the parameters as arguments `index` and `index + 1`, and dispatches.
  void run(metal::CommandEncoder& encoder, int index) const;
};

// Plans for elements of this shape, which have several sets of strides if they come from several
// arrays. The first set decides on the order. Returns nothing if the kernels do not take so many
// dimensions. `shared`: there are kernels of the shared layouts.
std::optional<ReducePlan> plan_reduction(const Shape& shape, std::span<const Strides> sets,
                                         const std::vector<int>& axes, bool shared);

// Plans for the partial results of an earlier pass: rows without gaps.
ReducePlan plan_of_partials(int rows, int row, bool shared);

}  // namespace mlx::core
