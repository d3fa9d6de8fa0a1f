// Chooses the loops of reductions.
#include "mlx/backend/metal/reduce_plan.h"

#include <algorithm>

#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

// Work is not split further than this.
struct MostSplits {
  size_t elements;  // of a split, at least
  size_t workers;   // threads, SIMD-groups or threadgroups, at most
};

MostSplits most_splits(ReduceLayout layout) {
  switch (layout) {
    case ReduceLayout::SharedRow:
      return {8192, 2048};
    case ReduceLayout::SharedColumn:
      return {256, 512};
    default:
      // A GPU hides the time of loads by other threads.
      return runs_on_gpu() ? MostSplits{2048, 4096} : MostSplits{8192, 512};
  }
}

// The column kernels' threads take so many rows each, so that neighbouring threads read the same
// cache lines and pages.
constexpr uint32_t kRowsPerSplit = 16;
constexpr uint32_t kMaxUnsplitRows = 256;

constexpr size_t kMaxKeptDims = 4;
constexpr size_t kMaxReducedDims = 8;

// Some of the dimensions; every set has strides for them.
struct StridedDims {
  Shape shape;
  std::vector<Strides> strides;
};

StridedDims pick(const Shape& shape, std::span<const Strides> sets, std::span<const int> axes) {
  StridedDims dims{{}, std::vector<Strides>(sets.size())};
  for (int axis : axes) {
    dims.shape.push_back(shape[axis]);
    for (size_t k = 0; k < sets.size(); ++k) dims.strides[k].push_back(sets[k][axis]);
  }
  collapse_in_place(dims.shape, dims.strides);
  return dims;
}

// Chooses the innermost reduced dimension: a contiguous one if there is one.
void split_inner(StridedDims reduced, ReducePlan& plan) {
  auto& p = plan.params;
  size_t inner = reduced.shape.size() - 1;
  for (size_t d = 0; d < reduced.shape.size(); ++d) {
    if (reduced.strides[0][d] == 1) inner = d;
  }
  p.inner = reduced.shape[inner];
  reduced.shape.erase(reduced.shape.begin() + inner);
  p.outer = 1;
  p.outer_ndim = static_cast<int32_t>(reduced.shape.size());
  for (int d = 0; d < p.outer_ndim; ++d) {
    p.outer_shape[d] = reduced.shape[d];
    p.outer *= reduced.shape[d];
  }
  for (size_t k = 0; k < plan.strides.size(); ++k) {
    Strides& strides = reduced.strides[k];
    plan.strides[k].inner = strides[inner];
    strides.erase(strides.begin() + inner);
    std::copy(strides.begin(), strides.end(), plan.strides[k].outer);
  }
}

// How many workers there are in x.
size_t workers_in_x(const ReducePlan& plan) {
  return plan.layout == ReduceLayout::SharedColumn ? (plan.x + kLanes - 1) / kLanes : plan.x;
}

ReduceLayout layout_of(const ReducePlan& plan, bool shared) {
  // From these numbers on, all threads of a threadgroup have something to do.
  constexpr size_t kSharedElements = 2 * kReduceThreads, kSharedRows = 4 * kReducePartsOfColumn;
  constexpr size_t kManyRows = 2048;  // SIMD-groups enough for a GPU
  const ReduceParams& p = plan.params;
  const ReduceStrides& first = plan.strides[0];
  if (first.inner == 1 && p.inner >= kLanes) {
    if (!shared || p.inner < kSharedElements) return ReduceLayout::Row;
    const bool are_many = plan.x * plan.y * plan.z >= kManyRows;
    return are_many ? ReduceLayout::SharedByLanes : ReduceLayout::SharedRow;
  }
  if (first.kept[0] == 1 && plan.x >= 4)
    return shared && p.inner >= kSharedRows ? ReduceLayout::SharedColumn : ReduceLayout::Column;
  return ReduceLayout::General;
}

ReducePlan make_plan(const StridedDims& kept, StridedDims reduced, bool shared) {
  ReducePlan plan{};
  plan.strides.resize(kept.strides.size());
  auto& p = plan.params;
  size_t lengths[kMaxKeptDims] = {1, 1, 1, 1};
  for (size_t d = 0; d < kept.shape.size(); ++d) {
    const size_t from = kept.shape.size() - 1 - d;
    lengths[d] = kept.shape[from];
    for (size_t k = 0; k < kept.strides.size(); ++k) {
      plan.strides[k].kept[d] = kept.strides[k][from];
    }
  }
  split_inner(std::move(reduced), plan);
  p.kept[0] = lengths[0];
  p.kept[1] = lengths[1];
  p.third_extent = lengths[2];
  p.splits = 1;
  p.row = lengths[0] * lengths[1] * lengths[2] * lengths[3];
  plan.x = lengths[0];
  plan.y = lengths[1];
  plan.z = lengths[2] * lengths[3];
  plan.work = size_t(p.inner) * p.outer;
  plan.layout = layout_of(plan, shared);
  return plan;
}

void split_work(ReducePlan& plan) {
  auto& p = plan.params;
  if (plan.layout == ReduceLayout::Column && p.inner > kMaxUnsplitRows) {
    p.inner_chunk = kRowsPerSplit;
    p.splits = (p.inner + kRowsPerSplit - 1) / kRowsPerSplit;
    return;
  }
  const MostSplits most = most_splits(plan.layout);
  const size_t workers = workers_in_x(plan) * plan.y * plan.z;
  if (workers >= most.workers || plan.work < 2 * most.elements) {
    return;
  }
  size_t splits = std::min(plan.work / most.elements, most.workers / workers);
  uint32_t& length = p.outer > p.inner ? p.outer : p.inner;
  uint32_t& chunk = p.outer > p.inner ? p.outer_chunk : p.inner_chunk;
  splits = std::min<size_t>(splits, length);
  if (splits < 2) {
    return;
  }
  chunk = (length + splits - 1) / splits;
  chunk = p.outer > p.inner ? chunk : (chunk + 15) / 16 * 16;
  p.splits = (length + chunk - 1) / chunk;
}

}  // namespace

bool ReducePlan::has_order_of(const ReducePlan& other) const {
  const ReduceParams &p = params, &q = other.params;
  return layout == other.layout && p.inner == q.inner && p.outer == q.outer &&
         p.splits == q.splits && p.inner_chunk == q.inner_chunk && p.outer_chunk == q.outer_chunk;
}

void ReducePlan::run(metal::CommandEncoder& encoder, int index) const {
  encoder.set_bytes(params, index);
  encoder.set_vector_bytes(strides, index + 1);
  size_t width = x;
  size_t splits = params.splits;
  if (layout == ReduceLayout::SharedRow || layout == ReduceLayout::SharedColumn) {
    const size_t threads =
        layout == ReduceLayout::SharedRow ? kReduceThreads : kReducePartsOfColumn * kLanes;
    return encoder.dispatch_threadgroups(MTL::Size(workers_in_x(*this), y * splits, z),
                                         MTL::Size(threads, 1, 1));
  }
  if (layout == ReduceLayout::SharedByLanes) {
    return dispatch_grid(encoder, width * kLanes, y * splits, z, kReduceThreads);
  }
  size_t per_thread = work / splits;  // or for a SIMD-group
  size_t lanes = 1;
  if (layout == ReduceLayout::Row) {  // a SIMD-group for two rows
    size_t& paired = splits > 1 ? splits : width;
    paired = (paired + 1) / 2;
    per_thread *= 2;
    lanes = kLanes;
  }
  size_t limit = std::clamp<size_t>(32768 / std::max<size_t>(1, per_thread) * lanes, kLanes, 256);
  dispatch_grid(encoder, width * lanes, y * splits, z, limit);
}

std::optional<ReducePlan> plan_reduction(const Shape& shape, std::span<const Strides> sets,
                                         const std::vector<int>& axes, bool shared) {
  std::vector<int> kept_axes;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept_axes.push_back(axis);
  }
  const StridedDims kept = pick(shape, sets, kept_axes);
  StridedDims reduced = pick(shape, sets, axes);
  if (kept.shape.size() > kMaxKeptDims || reduced.shape.size() > kMaxReducedDims) {
    return std::nullopt;
  }
  ReducePlan plan = make_plan(kept, std::move(reduced), shared);
  split_work(plan);
  return plan;
}

ReducePlan plan_of_partials(int rows, int row, bool shared) {
  const Shape shape = {rows, row};
  const Strides strides = {row, 1};
  constexpr int kRows[] = {0}, kColumns[] = {1};
  ReducePlan plan =
      make_plan(pick(shape, {&strides, 1}, kColumns), pick(shape, {&strides, 1}, kRows), shared);
  // Kernels of this and of the shared layouts exist for sums that were widened.
  if (plan.layout == ReduceLayout::Row || plan.layout == ReduceLayout::General)
    plan.layout = ReduceLayout::Column;
  split_work(plan);
  return plan;
}

}  // namespace mlx::core
