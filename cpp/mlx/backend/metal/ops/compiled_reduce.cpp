// Runs elementwise operations with a reduction of what they compute. The fused kernel combines the
// elements in the order of the reduction's own kernels: the result is the same to the bit.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/metal/compiled_reduce_kernels.h"
#include "mlx/backend/metal/ops/compiled.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/reduce.h"
#include "mlx/utils.h"

namespace mlx::core {

namespace {

struct FusedPlan {
  ReducePlan plan;
  std::vector<ReducedInput> inputs;
};

// The strides that the elementwise operations would give their result.
Strides strides_of_result(const std::vector<const array*>& arrays) {
  return form_a_line(arrays) ? arrays[0]->strides() : row_contiguous_strides(arrays[0]->shape());
}

// Returns the number of the strides' set, which may be new.
int set_of(const array& in, std::vector<Strides>& sets) {
  Strides strides = in.strides();
  for (size_t d = 0; d < strides.size(); ++d) {
    if (in.shape(static_cast<int>(d)) == 1) strides[d] = sets[0][d];
  }
  const auto found = std::find(sets.begin(), sets.end(), strides);
  const auto set = static_cast<int>(found - sets.begin());
  if (found == sets.end()) sets.push_back(std::move(strides));
  return set;
}

// Returns nothing if a kernel of its own reads the input faster.
std::optional<ReducedInput::Access> access_of(const ReducePlan& plan, int set, const array& in) {
  using Access = ReducedInput::Access;
  const ReduceStrides& strides = plan.strides[set];
  if (plan.layout == ReduceLayout::General) {
    // Each thread reads a short row. Elementwise operations on whole arrays are faster than that,
    // but they are slow, too, if inputs are broadcast along such rows.
    const bool short_rows = strides.inner == 1 || strides.inner == 0;
    const bool is_line = plan.strides.size() == 1;
    const bool fast = short_rows && !is_line && (set != 0 || in.itemsize() >= 4);
    return fast ? std::optional(Access::SideBySide) : std::nullopt;
  }
  const bool row = plan.layout == ReduceLayout::Row;
  // A SIMD-group reads a single cache line of narrow elements in each row of a column, and waits
  // for the next one if the operations take long.
  if (!row && in.itemsize() < 4) return std::nullopt;
  const int64_t step = row ? strides.inner : strides.kept[0];
  if (step == 1) return Access::SideBySide;
  return step == 0 ? std::optional(Access::Same) : std::nullopt;
}

// While a fused kernel computes, memory must be on its way. This fails where SIMD-groups read short
// pieces of memory, each far from the last: nobody foresees the next one. Then it is faster to
// compute all elements in order before.
bool reads_short_pieces(const ReducePlan& plan, size_t itemsize) {
  constexpr int64_t kShortBytes = 1 << 12;
  const ReduceStrides& strides = plan.strides[0];
  const ReduceParams& p = plan.params;
  if (plan.layout == ReduceLayout::Column) return p.outer > 1;
  if (p.outer == 1 && strides.kept[0] <= p.inner) return false;
  const int64_t length = p.inner_chunk ? p.inner_chunk : p.inner;
  const int64_t bytes = length * std::abs(strides.inner) * static_cast<int64_t>(itemsize);
  return bytes < kShortBytes;
}

// The column kernels read from each row in turn. Caches and processors do not follow many rows that
// lie far apart.
bool reads_far_rows(const FusedPlan& fused, size_t itemsize) {
  constexpr int64_t kFar = 1 << 12, kVeryFar = 1 << 16;  // bytes
  constexpr int64_t kMaxRows = 16;
  if (fused.plan.layout != ReduceLayout::Column) return false;
  const ReduceParams& p = fused.plan.params;
  const int64_t rows = p.inner_chunk ? p.inner_chunk : p.inner;
  const int64_t distance = std::abs(fused.plan.strides[0].inner) * static_cast<int64_t>(itemsize);
  const int64_t arrays =
      std::count_if(fused.inputs.begin(), fused.inputs.end(), [&](const ReducedInput& input) {
        return input.access == ReducedInput::Access::SideBySide &&
               fused.plan.strides[input.set].inner != 0;
      });
  return (distance >= kFar && rows > kMaxRows) ||
         (distance >= kVeryFar && arrays > 1 && arrays * rows > kMaxRows);
}

// Returns nothing if the inputs lie so that the operations must run apart.
std::optional<FusedPlan> make_fused_plan(const std::vector<array>& inputs, const array& out,
                                         const std::vector<int>& axes) {
  const auto arrays = walked(inputs);
  if (arrays.empty() || out.size() == 0 || arrays[0]->size() <= out.size()) return std::nullopt;
  // Elements that all inputs repeat are computed once if the operations run apart.
  const bool repeats = form_a_line(arrays) && arrays[0]->data_size() < arrays[0]->size();
  const Shape& shape = arrays[0]->shape();
  std::vector<Strides> sets = {strides_of_result(arrays)};
  const auto plan_of_sets = [&] { return plan_reduction(shape, sets, axes, /*shared=*/false); };
  const auto apart = plan_of_sets();
  FusedPlan made;
  for (const auto& in : inputs) {
    const int set = is_scalar(in) ? 0 : set_of(in, sets);
    made.inputs.push_back({ReducedInput::Access::Scalar, set});
  }
  const auto plan = sets.size() > 1 ? plan_of_sets() : apart;
  if (repeats || !apart || !plan || !plan->has_order_of(*apart)) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_scalar(inputs[i])) continue;
    const auto access = access_of(*plan, made.inputs[i].set, inputs[i]);
    if (!access) return std::nullopt;
    made.inputs[i].access = *access;
  }
  made.plan = *plan;
  made.plan.params.divisor = divisor_of(arrays[0]->size(), out.size(), 0);
  size_t itemsize = 0;
  for (const auto* in : arrays) itemsize = std::max(itemsize, in->itemsize());
  const bool waits = reads_short_pieces(*plan, itemsize) || reads_far_rows(made, itemsize);
  return waits ? std::nullopt : std::optional(std::move(made));
}

Dtype type_of_elements(const Trace& chain) { return chain.outputs[0].dtype(); }

}  // namespace

void CompiledReduce::run_apart(const std::vector<array>& inputs, std::vector<array>& outputs) {
  const auto arrays = walked(inputs);
  Shape shape = arrays.empty() ? chain_.output_shapes(inputs)[0] : arrays[0]->shape();
  array elements(std::move(shape), type_of_elements(chain_.body()), nullptr, {});
  std::vector<array> results{elements};
  chain_.eval_gpu(inputs, results);
  reduce_->eval_gpu(results, outputs[0]);
  metal::get_command_encoder(stream()).add_temporary(elements);
}

MLX_EVAL_MULTI(CompiledReduce) {
  array& out = outputs[0];
  const auto [type, axes] = reduce_->state();
  const bool direct = reduces_directly(type, type_of_elements(chain_.body()), out.dtype());
  const auto fused = direct ? make_fused_plan(inputs, out, axes) : std::nullopt;
  if (!fused) return run_apart(inputs, outputs);
  const FirstPass pass = first_pass(fused->plan, type, out.dtype());
  auto* kernel = kernels_->find(fused->plan, fused->inputs, pass.op, pass.type, stream().device);
  if (!kernel) return run_one_by_one(body(), inputs, outputs, stream());
  allocate_output(out);
  const auto run_first = [&](const ReducePlan& plan, array& results) {
    auto& encoder = metal::get_command_encoder(stream());
    encoder.set_compute_pipeline_state(kernel);
    int buffer = 0;
    for (const auto& in : inputs) encoder.set_input_array(in, buffer++);
    encoder.set_output_array(results, buffer++);
    plan.run(encoder, buffer);
  };
  run_passes(fused->plan, type, out, stream(), std::ref(run_first));
}

}  // namespace mlx::core
