// Evaluates sums of indexed products with kernels. The host sorts the entries, in a task of the
// stream, unless the device has memory of its own.
#include <algorithm>
#include <numeric>

#include "evaluation.h"
#include "mlx/backend/metal/utils.h"
#include "sparse_products/sizes.h"
#include "sparse_products/sparse_products.h"

namespace mlx_sample {

namespace {

// The kernels read the order from memory even if it is the identity.
void write_out(const Order& order, int32_t* entries, int32_t count) {
  if (!order.entries) {
    std::iota(entries, entries + count, 0);
  }
}

mx::array new_ints(size_t count) { return uninitialized({static_cast<int>(count)}, mx::int32); }

RowReader row_of(const Indices& indices) { return indices ? RowReader(*indices) : RowReader(); }

// The float32 sums, which are the output itself if that is float32.
mx::array sums_for(const mx::array& out) {
  return out.dtype() == mx::float32 ? out : uninitialized(out.shape(), mx::float32);
}

int tiles(int length, int tile) { return (length + tile - 1) / tile; }

// Groups of a SIMD-group, if there is still work for all cores.
int bundle_of(int groups, int m, int c, int64_t parts) {
  constexpr int64_t kTasks = 16;
  int64_t fitting = SPARSE_COLUMNS / std::max({m, c, 1});
  return static_cast<int>(std::max<int64_t>(std::min(fitting, groups * parts / kTasks), 1));
}

}  // namespace

int step_of(const Indices& indices) {
  return indices ? static_cast<int>(indices->itemsize() / sizeof(int32_t)) : 0;
}

PartSizes SparseProduct::part_sizes(const std::vector<mx::array>& inputs) const {
  auto& a = inputs[0];
  auto entries = entries_of(inputs);
  return choose_parts(entries_in(inputs), n_o_, entries.a ? a.shape(0) : 0, a.shape(1),
                      a.shape(transposed() ? 3 : 2), inputs[1].shape(2));
}

// One kernel serves both devices.
void SparseProduct::eval_cpu(const std::vector<mx::array>& inputs,
                             std::vector<mx::array>& outputs) {
  eval_gpu(inputs, outputs);
}

void SparseProduct::eval_gpu(const std::vector<mx::array>& inputs,
                             std::vector<mx::array>& outputs) {
  auto& a = inputs[0];
  auto& b = inputs[1];
  auto& out = outputs[0];
  allocate(out);
  if (out.size() == 0) {
    return;
  }
  if (grouped_) {
    return multiplies() ? multiply_in_tiles(inputs, out) : add_outer_in_tiles(inputs, out);
  }
  auto entries = entries_of(inputs);
  int count = entries_in(inputs);
  auto parts = part_sizes(inputs);
  auto space = new_ints(multiplies() ? parts.space() : space_by_row(count, n_o_));
  int tasks = multiplies() ? parts.parts : n_o_;
  ProductSizes sizes{out.shape(1),
                     out.shape(2),
                     b.shape(2),
                     tasks,
                     bundle_of(out.shape(1), out.shape(2), b.shape(2), tasks),
                     step_of(entries.a),
                     step_of(entries.b),
                     step_of(entries.o)};
  int bundles = tiles(sizes.groups, sizes.bundle);

  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.add_temporary(space);
  encoder.add_host_task([parts, count, n_o = n_o_, multiplies = multiplies(), o = row_of(entries.o),
                         a = row_of(entries.a), to = space.data<int32_t>()] {
    if (multiplies) {
      write_out(order_by_part(parts, o, a, to), to + size_t{2} * (parts.parts + 1), count);
    } else {
      write_out(order_by_row(count, n_o, o, to), to + n_o + 1, count);
    }
  });

  auto type = mx::type_to_name(out);
  // Missing arguments are not read, so any array is bound in their place.
  auto bind = [&](const Indices& indices, int index) {
    encoder.set_input_array(indices ? *indices : space, index);
  };
  encoder.set_compute_pipeline_state(find_kernel((!multiplies()  ? "sparse_outer_"
                                                  : transposed() ? "sparse_multiply_transposed_"
                                                                 : "sparse_multiply_") +
                                                     type,
                                                 stream()));
  encoder.set_bytes(sizes, 0);
  encoder.set_input_array(a, 1);
  encoder.set_input_array(b, 2);
  bind(entries.a, 3);
  bind(entries.b, 4);
  auto sums = sums_for(out);
  if (out.dtype() != mx::float32) {
    encoder.add_temporary(sums);
  }
  bind(entries.o, 5);
  encoder.set_input_array(space, 6);
  encoder.set_output_array(sums, 7);
  encoder.set_output_array(out, 8);
  const int ranges = tiles(sizes.m, multiplies() ? SPARSE_COLUMNS : SPARSE_OUTER_ROWS);
  encoder.dispatch_threadgroups(MTL::Size(static_cast<NS::UInteger>(bundles) * ranges, tasks, 1),
                                MTL::Size(32, 1, 1));
}

}  // namespace mlx_sample
