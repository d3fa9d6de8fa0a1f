// Functions for the evaluation of primitives: they look up kernels without building names, and lay
// out grids.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>

#include "mlx/array.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/kernels/strided.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/primitives/primitive.h"

// The kernel decides where it runs: both devices have the same evaluation.
#define MLX_EVAL(Primitive)                                                \
  void Primitive::eval_cpu(const std::vector<array>& inputs, array& out) { \
    eval_gpu(inputs, out);                                                 \
  }                                                                        \
  void Primitive::eval_gpu(const std::vector<array>& inputs, array& out)

#define MLX_EVAL_MULTI(Primitive)                                                           \
  void Primitive::eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) { \
    eval_gpu(inputs, outputs);                                                              \
  }                                                                                         \
  void Primitive::eval_gpu(const std::vector<array>& inputs, std::vector<array>& outputs)

namespace mlx::core {

inline constexpr int kDtypes = 14;
inline constexpr size_t kLanes = 32;  // threads of a SIMD-group

// The pipelines of one family of kernels, by number. `name` is only called the first time. A table
// is static and never destroyed: threads may use it until the process ends.
class KernelTable {
 public:
  explicit KernelTable(size_t size)
      : entries_(new std::atomic<MTL::ComputePipelineState*>[size]()) {}

  template <typename Name>
  MTL::ComputePipelineState* get(size_t index, Name&& name) {
    auto* kernel = entries_[index].load(std::memory_order_acquire);
    if (!kernel) {
      kernel = metal::device().get_kernel(name());
      entries_[index].store(kernel, std::memory_order_release);
    }
    return kernel;
  }

 private:
  std::atomic<MTL::ComputePipelineState*>* const entries_;
};

// Joins the parts of a kernel's name by underscores.
template <typename... Parts>
std::string kernel_name(const char* first, const Parts&... rest) {
  std::string name = first;
  ((name += '_', name += rest), ...);
  return name;
}

inline int dtype_index(Dtype dtype) { return static_cast<int>(dtype.val()); }

// The unsigned integer type of the same size, for kernels that only copy elements.
const char* size_name(Dtype dtype);

// An array with memory, which lives until the stream has used it.
array temporary(Shape shape, Dtype dtype, Stream s);

// Throws unless the stream is the host's, since Metal has no float64.
void check_float64(const char* op, Stream s);

// Dispatches threads (x, y, z) in threadgroups of at most `limit` threads, in rows of at most `row`
// threads.
void dispatch_grid(metal::CommandEncoder& encoder, size_t x, size_t y = 1, size_t z = 1,
                   size_t limit = 1024, size_t row = 1024);

// How many rows a threadgroup has if each SIMD-group takes one.
inline size_t rows_of_threadgroup(size_t length) {
  constexpr size_t kElements = 16384, kMaxRows = 8;
  return std::clamp<size_t>(kElements / std::max<size_t>(length, 1), 1, kMaxRows);
}

// Whether the default device's kernels are laid out for a GPU: it has memory of its own.
bool runs_on_gpu();
// Threads of a threadgroup that shares nothing: multiprocessors replace small ones sooner.
inline constexpr size_t kGpuThreadgroup = 256;
// Whether the stream's device is such a one: it computes what libraries of the host would need
// copies for.
bool runs_on_gpu(Stream s);

// How threads share rows of this length (kernels/shared_row.h).
struct SharedRows {
  const char* suffix;  // of the kernel's name; empty if a SIMD-group takes a row
  size_t threads;      // of a row
  int index() const { return *suffix == 0 ? 0 : *suffix == 'H' ? 1 : 2; }
};
inline constexpr int kSharedRowKinds = 3;
SharedRows shared_rows(size_t length);

// Splits a long line so that 32-bit positions cover each part; runs `bind(first)` and a dispatch
// for each part.
template <typename Bind>
void dispatch_line(metal::CommandEncoder& encoder, size_t n, Bind&& bind) {
  constexpr size_t kStretch = size_t(1) << 31;
  const size_t limit = runs_on_gpu() ? kGpuThreadgroup : 1024;
  for (size_t first = 0; first < n; first += kStretch) {
    bind(static_cast<int64_t>(first));
    dispatch_grid(encoder, std::min(kStretch, n - first), 1, 1, limit);
  }
}

// The common shape of several operands and the strides of each.
struct StridedWalk {
  Shape shape;
  std::vector<Strides> strides;

  StridedWalk(const Shape& shape, const std::vector<Strides>& strides);
  // Whether there are more dimensions than Strides4 holds.
  bool deep() const { return shape.size() > 4; }
  // Whether the operand is contiguous, or the same element, along the innermost dimension.
  bool side_by_side(int operand) const { return strides[operand].back() == 1; }
  bool backwards(int operand) const { return strides[operand].back() == -1; }
  bool same(int operand) const { return strides[operand].back() == 0; }
  // The product of all dimensions but the last two: z of the grid.
  size_t layers() const;
  // For up to four dimensions.
  template <int N>
  Strides4<N> parameters() const;
  // Binds the parameters as argument `index` (up to four dimensions), and dispatches.
  template <int N>
  void run(metal::CommandEncoder& encoder, int index) const;
  // The same for any number of dimensions, with three arguments.
  void run_deep(metal::CommandEncoder& encoder, int index) const;
};

namespace detail {
void fill_strides4(const StridedWalk& walk, int64_t (*strides)[4], uint32_t& third_extent);
void dispatch_walk(const StridedWalk& walk, metal::CommandEncoder& encoder);
}  // namespace detail

template <int N>
Strides4<N> StridedWalk::parameters() const {
  Strides4<N> filled{};
  detail::fill_strides4(*this, filled.stride, filled.third_extent);
  return filled;
}

template <int N>
void StridedWalk::run(metal::CommandEncoder& encoder, int index) const {
  encoder.set_bytes(parameters<N>(), index);
  detail::dispatch_walk(*this, encoder);
}

}  // namespace mlx::core
