// Matrix products on a device that has memory of its own.
#include "mlx/backend/metal/ops/matmul.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metal/matrix_product.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/metal/kernels/matmul_params.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/library.h"

namespace mlx::core {

namespace {

// ---- with a library ----

using ::metal::MatrixProduct;
using ProductPlan = std::shared_ptr<const ::metal::MatrixProductPlan>;

// A batch that takes more calls than this is copied, so that it takes one.
constexpr size_t kMaxCalls = 32;

ProductPlan plan_of(const MatrixProduct& p, Stream s) {
  const int64_t numbers[] = {
      static_cast<int64_t>(p.type),
      p.m,
      p.n,
      p.k,
      p.batch,
      p.a.transposed,
      p.a.leading,
      p.a.step,
      p.a.alignment,
      p.b.transposed,
      p.b.leading,
      p.b.step,
      p.b.alignment,
      p.c.leading,
      p.c.step,
      p.c.alignment,
      p.adds_row,
  };
  return library_plan<::metal::MatrixProductPlan>(p, numbers, s);
}

// What an address is a multiple of, in bytes, up to the widest access to memory.
uint32_t alignment_of(const array& a, int64_t offset) {
  constexpr uint64_t kWidest = 16;
  const uint64_t address = static_cast<uint64_t>(a.offset() + offset) | kWidest;
  return static_cast<uint32_t>(address & -address);
}

// A batch as calls of a library take it: each call computes `count` products whose matrices lie
// equal steps apart.
struct Calls {
  Shape others;  // the dimensions over which the calls go
  Strides a, b, c;
  int64_t count, a_step, b_step, c_step;

  explicit Calls(const cpu::Products& products);
  size_t size() const { return shape_size(others); }
  // Whether copies of the matrices are better. Libraries do not take a batch backwards.
  bool awkward() const { return size() > kMaxCalls || a_step < 0 || b_step < 0; }
};

Calls::Calls(const cpu::Products& products) {
  Strides c_strides = make_contiguous_strides(products.batch);
  for (auto& stride : c_strides) stride *= int64_t{products.one.m} * products.one.n;
  auto [shape, strides] =
      collapse_contiguous_dims(products.batch, {products.a_strides, products.b_strides, c_strides});
  const auto longest = std::max_element(shape.begin(), shape.end()) - shape.begin();
  count = shape[longest];
  a_step = strides[0][longest];
  b_step = strides[1][longest];
  c_step = strides[2][longest];
  shape.erase(shape.begin() + longest);
  for (auto& of_operand : strides) of_operand.erase(of_operand.begin() + longest);
  others = shape;
  a = strides[0];
  b = strides[1];
  c = strides[2];
}

// Matrices as libraries and kernels take them.
struct Factors {
  cpu::Matrices left, right;
  cpu::Products products;

  Factors(const array& a, const array& b, double alpha, double beta, Stream s)
      : left(cpu::readable_matrices(a, s)),
        right(cpu::readable_matrices(b, s)),
        products(left, right, alpha, beta) {
    if (!Calls(products).awkward()) return;
    left = cpu::readable_matrices(contiguous_copy(a, s), s);
    right = cpu::readable_matrices(contiguous_copy(b, s), s);
    products = cpu::Products(left, right, alpha, beta);
  }
};

struct Call {
  ProductPlan plan;
  int64_t a, b, c;  // where its first matrices start, in bytes
};

// Empty if a library does not compute all of them.
std::vector<Call> plan_calls(const Factors& factors, bool adds_row, const array& out, Stream s) {
  const Calls calls(factors.products);
  const cpu::Product& one = factors.products.one;
  const auto size = static_cast<int64_t>(out.itemsize());
  MatrixProduct product{.type = library_type(out.dtype()),
                        .m = one.m,
                        .n = one.n,
                        .k = one.k,
                        .batch = calls.count,
                        .a = {one.ta, one.lda, calls.a_step},
                        .b = {one.tb, one.ldb, calls.b_step},
                        .c = {false, one.ldc, calls.c_step},
                        .adds_row = adds_row};
  std::vector<Call> planned;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    Call call{nullptr, elem_to_loc(at, calls.others, calls.a) * size,
              elem_to_loc(at, calls.others, calls.b) * size,
              elem_to_loc(at, calls.others, calls.c) * size};
    product.a.alignment = alignment_of(factors.left.source, call.a);
    product.b.alignment = alignment_of(factors.right.source, call.b);
    product.c.alignment = alignment_of(out, call.c);
    call.plan = plan_of(product, s);
    if (!call.plan) return {};
    planned.push_back(std::move(call));
  }
  return planned;
}

void add_call(const Call& call, const Factors& factors, const array* row, array& out, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  std::vector<MTL::LibraryBuffer> buffers{encoder.library_input(factors.left.source, call.a),
                                          encoder.library_input(factors.right.source, call.b),
                                          encoder.library_output(out, call.c),
                                          library_workspace(call.plan->workspace_bytes(), s)};
  if (row) buffers.push_back(encoder.library_input(*row));
  const cpu::Product& one = factors.products.one;
  auto start = [plan = call.plan, alpha = one.alpha, beta = one.beta](void* queue,
                                                                      void* const* addresses) {
    plan->start(queue, addresses, alpha, beta);
  };
  encoder.add_library_call({"matmul", std::move(start)}, buffers);
}

// Returns false, and has done nothing, if no library computes this. `row`, unless it is null, is
// added to each row of the result.
bool multiply_with_library(const Factors& factors, const array* row, array& out, Stream s) {
  if (factors.products.one.k == 0) return false;
  const auto calls = plan_calls(factors, row != nullptr, out, s);
  for (const Call& call : calls) add_call(call, factors, row, out, s);
  return !calls.empty();
}

// ---- with a kernel ----

enum class Family { Matmul, GatherMM, SegmentedMM };

constexpr int kThreadsAcross = 16;  // a tile of float32 has as many rows of threads
constexpr int kShortColumns = 128, kShortThreads = 128;  // of a tile of 16-bit floats
// So many large tiles keep a large GPU busy; small ones have fewer elements a thread.
constexpr size_t kManyTiles = 128;

MatmulParams matmul_params(const cpu::Product& p) {
  MatmulParams params{};
  (p.ta ? params.a_column : params.a_row) = p.lda;
  (p.ta ? params.a_row : params.a_column) = 1;
  (p.tb ? params.b_column : params.b_row) = p.ldb;
  (p.tb ? params.b_row : params.b_column) = 1;
  params.m = p.m;
  params.n = p.n;
  params.k = p.k;
  params.adds = p.beta != 0.0;
  params.alpha = static_cast<float>(p.alpha);
  params.beta = static_cast<float>(p.beta);
  return params;
}

// A kernel, the rows and columns of the result that a threadgroup of it computes, and its threads.
struct TileKernel {
  MTL::ComputePipelineState* pipeline;
  int rows, columns, threads;

  size_t tiles_down(int m) const { return static_cast<size_t>((m + rows - 1) / rows); }
  size_t tiles_across(int n) const { return static_cast<size_t>((n + columns - 1) / columns); }
};

TileKernel tile_kernel(Family family, Dtype dtype, bool large) {
  static KernelTable table(3 * kDtypes * 2);
  constexpr const char* kNames[] = {"Matmul", "GatherMM", "SegmentedMM"};
  const int own = large ? 8 : 4;  // rows and columns of a thread
  const auto f = static_cast<int>(family);
  auto* pipeline = table.get((f * kDtypes + dtype_index(dtype)) * 2 + (large ? 1 : 0), [&] {
    return kernel_name(kNames[f], type_name(dtype), std::to_string(own));
  });
  return {pipeline, own * kThreadsAcross, own * kThreadsAcross, kThreadsAcross * kThreadsAcross};
}

TileKernel short_tile_kernel(Family family, Dtype dtype, const cpu::Product& p, bool large) {
  static KernelTable table(3 * kDtypes * 2 * 4);
  constexpr const char* kNames[] = {"ShortMatmul", "ShortGatherMM", "ShortSegmentedMM"};
  constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};  // t: by columns
  const auto f = static_cast<int>(family);
  const int rows = large ? 128 : 32;
  const int layout = (p.ta ? 2 : 0) + (p.tb ? 1 : 0);
  const int index = ((f * kDtypes + dtype_index(dtype)) * 2 + (large ? 1 : 0)) * 4 + layout;
  auto* pipeline = table.get(index, [&] {
    return kernel_name(kNames[f], type_name(dtype), std::to_string(rows), kLayouts[layout]);
  });
  return {pipeline, rows, kShortColumns, kShortThreads};
}

bool has_short_tiles(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

// The kernel for `batch` products.
TileKernel kernel_for(Family family, Dtype dtype, const cpu::Product& p, size_t batch) {
  const auto many = [&](int rows, int columns) {
    const TileKernel tiles{nullptr, rows, columns, 0};
    return tiles.tiles_down(p.m) * tiles.tiles_across(p.n) * batch >= kManyTiles;
  };
  if (has_short_tiles(dtype)) {
    constexpr int kFewRows = 64;
    return short_tile_kernel(family, dtype, p, p.m > kFewRows && many(128, kShortColumns));
  }
  const bool has_large_tiles = family == Family::Matmul && dtype != complex64;
  return tile_kernel(family, dtype, has_large_tiles && many(128, 128));
}

// The matrices, or a copy of them that the kernels can read. Those for 16-bit floats read vectors
// of 16 bytes: rows, or columns if these are contiguous, begin at multiples of that, and their last
// vectors are whole in memory. Repeated matrices are copied once.
cpu::Matrices readable_by_kernels(const cpu::Matrices& matrices, Stream s) {
  constexpr int kVectorBytes = 16;
  const array& source = matrices.source;
  if (!has_short_tiles(source.dtype())) return matrices;
  const int64_t vector = kVectorBytes / static_cast<int64_t>(source.itemsize());
  const int rows = source.shape(-2), columns = source.shape(-1);
  const auto is_whole = [&](int64_t elements) { return elements % vector == 0; };
  if (alignment_of(source, 0) == kVectorBytes && is_whole(matrices.leading) &&
      is_whole(matrices.transposed ? rows : columns) &&
      std::all_of(matrices.batch_strides.begin(), matrices.batch_strides.end(), is_whole))
    return matrices;

  const int64_t padded = ((matrices.transposed ? rows : columns) + vector - 1) / vector * vector;
  Shape shape = source.shape();
  Strides strides(shape.size());
  int64_t size = padded * (matrices.transposed ? columns : rows);
  strides[shape.size() - 2] = matrices.transposed ? 1 : padded;
  strides[shape.size() - 1] = matrices.transposed ? padded : 1;
  for (size_t d = shape.size() - 2; d-- > 0;) {
    if (source.strides(static_cast<int>(d)) == 0) shape[d] = 1;
    strides[d] = shape[d] == 1 ? 0 : size;
    size *= shape[d];
  }
  const array memory = temporary({static_cast<int>(size)}, source.dtype(), s);
  array copy(source.shape(), source.dtype(), nullptr, {});
  make_view(memory, copy, strides);
  copy_inplace(source, copy, shape, source.strides(), strides, 0, 0, CopyType::GeneralGeneral, s);
  return {copy, matrices.transposed, padded, matrices.batch_shape,
          Strides(strides.begin(), strides.end() - 2)};
}

// Binds what all kernels of products have in common.
metal::CommandEncoder& bind_product(const TileKernel& kernel, const array& a, const array& b,
                                    array& out, const MatmulParams& params, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel.pipeline);
  encoder.set_input_array(a, 0);
  encoder.set_input_array(b, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(params, 3);
  return encoder;
}

void dispatch_tiles(metal::CommandEncoder& encoder, const TileKernel& kernel,
                    const MatmulParams& params, size_t batch) {
  encoder.dispatch_threadgroups(
      MTL::Size(kernel.tiles_across(params.n), kernel.tiles_down(params.m), batch),
      MTL::Size(kernel.threads, 1, 1));
}

void multiply_with_kernel(const Factors& factors, array& out, Stream s) {
  const cpu::Matrices left = readable_by_kernels(factors.left, s);
  const cpu::Matrices right = readable_by_kernels(factors.right, s);
  const cpu::Product& asked = factors.products.one;
  const cpu::Products products(left, right, asked.alpha, asked.beta);
  const size_t batch = shape_size(products.batch);
  const TileKernel kernel = kernel_for(Family::Matmul, out.dtype(), products.one, batch);
  const MatmulParams params = matmul_params(products.one);
  auto& encoder = bind_product(kernel, left.source, right.source, out, params, s);
  Strides strides = products.a_strides;
  strides.insert(strides.end(), products.b_strides.begin(), products.b_strides.end());
  encoder.set_vector_bytes(products.batch, 4);
  encoder.set_vector_bytes(strides, 5);
  encoder.set_bytes(static_cast<int>(products.batch.size()), 6);
  dispatch_tiles(encoder, kernel, params, batch);
}

// Whether an array is one row without gaps, which is repeated along all other axes.
bool is_repeated_row(const array& c) {
  const int last = static_cast<int>(c.ndim()) - 1;
  for (int axis = 0; axis < last; ++axis) {
    if (c.strides(axis) != 0 && c.shape(axis) != 1) return false;
  }
  return c.strides(last) == 1;
}

// Whether a library adds a row before it rounds the result. For 16-bit floats, cuBLASLt does so in
// code that reads whole vectors of 16 bytes.
bool adds_row_exactly(const Factors& factors, Dtype dtype) {
  constexpr int kVector = 8;
  const cpu::Product& one = factors.products.one;
  const bool whole = (one.n | one.k | one.m | one.lda | one.ldb) % kVector == 0;
  return dtype == float32 || (dtype != complex64 && whole);
}

}  // namespace

void multiply_on_device(const array& a, const array& b, array& out, double alpha, double beta,
                        Stream s) {
  if (out.dtype() == float64) check_float64("matmul", s);
  const Factors factors(a, b, alpha, beta, s);
  if (!multiply_with_library(factors, nullptr, out, s)) multiply_with_kernel(factors, out, s);
}

void addmm_on_device(const array& a, const array& b, const array& c, array& out, double alpha,
                     double beta, Stream s) {
  if (out.dtype() == float64) check_float64("addmm", s);
  if (beta == 1.0 && is_repeated_row(c)) {
    const Factors factors(a, b, alpha, 0.0, s);
    if (adds_row_exactly(factors, out.dtype()) && multiply_with_library(factors, &c, out, s))
      return;
  }
  copy_inplace(c, out, CopyType::General, s);
  multiply_on_device(a, b, out, alpha, beta, s);
}

void gather_mm_on_device(const std::vector<array>& inputs, array& out, Stream s) {
  if (out.dtype() == float64) check_float64("gather_mm", s);
  const array a = row_contiguous(inputs[0], s);
  const auto left = readable_by_kernels(cpu::readable_matrices(a, s), s);
  const auto right = readable_by_kernels(cpu::readable_matrices(inputs[1], s), s);
  const array lhs = row_contiguous(inputs[2], s), rhs = row_contiguous(inputs[3], s);
  const cpu::Product one = cpu::Products(left, right, 1.0, 0.0).one;
  const TileKernel kernel = kernel_for(Family::GatherMM, out.dtype(), one, lhs.size());
  MatmulParams params = matmul_params(one);
  params.a_matrix = left.batch_strides[0];
  params.b_matrix = right.batch_strides[0];
  params.a_count = left.source.shape(0);
  params.b_count = right.source.shape(0);
  auto& encoder = bind_product(kernel, left.source, right.source, out, params, s);
  encoder.set_input_array(lhs, 4);
  encoder.set_input_array(rhs, 5);
  dispatch_tiles(encoder, kernel, params, lhs.size());
}

void segmented_mm_on_device(const std::vector<array>& inputs, array& out, Stream s) {
  if (out.dtype() == float64) check_float64("segmented_mm", s);
  const auto left = readable_by_kernels(cpu::readable_matrices(inputs[0], s), s);
  const auto right = readable_by_kernels(cpu::readable_matrices(inputs[1], s), s);
  const array segments = row_contiguous(inputs[2], s);
  const cpu::Product one = cpu::Products(left, right, 1.0, 0.0).one;
  const size_t count = segments.size() / 2;
  const TileKernel kernel = kernel_for(Family::SegmentedMM, out.dtype(), one, count);
  const MatmulParams params = matmul_params(one);
  auto& encoder = bind_product(kernel, left.source, right.source, out, params, s);
  encoder.set_input_array(segments, 4);
  dispatch_tiles(encoder, kernel, params, count);
}

}  // namespace mlx::core
