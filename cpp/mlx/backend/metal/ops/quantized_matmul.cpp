// Products with quantised matrices: a kernel multiplies few vectors. For many, a host with matrix
// registers multiplies the integers. Otherwise the matrix is dequantised: part by part to float32
// for BLAS, or as a whole if a library or the device multiplies its 16-bit floats.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/amx/quantized_product.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/grouped.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/host/onednn.h"
#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/matmul.h"
#include "mlx/backend/metal/ops/quantized.h"
#include "mlx/primitives/quantized.h"

namespace mlx::core {

namespace {

// For so many vectors per matrix it pays to dequantise the matrix.
constexpr size_t kManyVectors = 12;
// Elements that are dequantised at a time. With fewer, the additional calls of BLAS cost more than
// is saved in memory traffic.
constexpr int64_t kFloatsAtOnce = int64_t{1} << 24;
// The largest matrix that is dequantised whole, to 16-bit floats.
constexpr int64_t kShortFloatsAtOnce = int64_t{1} << 27;
// Vectors that the kernel multiplies at a time.
constexpr int kVectorsAtOnce = 4;
// If w is not transposed, a thread adds up at least so many of its rows. The parts of rows of all
// products need memory, so many products have fewer.
constexpr int kMinRowsOfPart = 256, kMaxParts = 128;
constexpr int kMinRowsOnGpu = 32;  // for a GPU, which needs more threads
// Of a threadgroup then, so that a few of them keep all cores busy.
constexpr size_t kThreads = 256;

// Extents of a product of x (batches, m, k) and w (batches, n, k), or (batches, k, n).
struct Extents {
  int m, n, k;
  int batches_x, batches_w;
  size_t pairs;
};

// Pairs of a matrix of x and a matrix of w; empty if there is one of each.
struct Indices {
  array lhs;
  array rhs;
};

// ---- few vectors ----

// Elements in a pack, as in the kernels.
int numbers_of_pack(int bits) {
  const int words = 32 % bits == 0 ? 1 : bits % 2 == 0 ? bits / 2 : bits;
  return words * 32 / bits;
}

struct Arranged {
  array x;
  array sums;
};

Arranged arrange(const array& x, const Quantization& q, const MatvecParams& p, Stream s) {
  const int numbers = numbers_of_pack(q.bits);
  const int packs = static_cast<int>(in_simd_groups(p.columns / numbers));
  const int rows = static_cast<int>(p.batches_x * p.padded_vectors);
  Arranged out{temporary({rows, packs * numbers}, float32, s),
               temporary({rows, static_cast<int>(p.columns) / q.group_size}, float32, s)};
  static KernelTable table(33 * kDtypes);
  auto* kernel = table.get(numbers * kDtypes + dtype_index(x.dtype()), [&] {
    return kernel_name("ArrangeVectors", std::to_string(numbers), type_name(x.dtype()));
  });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(x, 0);
  encoder.set_output_array(out.x, 1);
  encoder.set_output_array(out.sums, 2);
  encoder.set_bytes(p, 3);
  encoder.set_bytes(static_cast<uint32_t>(q.group_size), 4);
  dispatch_grid(encoder, packs, p.padded_vectors, p.batches_x);
  return out;
}

MTL::ComputePipelineState* vector_kernel(bool transpose, const Quantization& q, Dtype dtype,
                                         int vectors) {
  static KernelTable table(kQuantizedKinds * 4 * kDtypes * 4);
  const int group = q.group_size == 128 ? 3 : q.group_size / 32;
  const int index = (quantized_kind(q) * 4 + group) * kDtypes + dtype_index(dtype);
  return table.get(index * 4 + (transpose ? 2 : 0) + (vectors > 1 ? 1 : 0), [&] {
    return kernel_name(transpose ? "QuantizedMatvec" : "QuantizedVecmat", quantized_name(q),
                       std::to_string(q.group_size), type_name(dtype), std::to_string(vectors));
  });
}

MatvecParams matvec_params(const Extents& e, int padded_vectors, bool gathered) {
  return {static_cast<uint32_t>(e.k),
          static_cast<uint32_t>(e.n),
          static_cast<uint32_t>(e.m),
          static_cast<uint32_t>(padded_vectors),
          gathered ? 1u : 0u,
          static_cast<uint32_t>(e.batches_x),
          static_cast<uint32_t>(e.batches_w)};
}

// x @ w.T: a SIMD-group has a row of w.
void multiply_by_rows(const array& x, const QuantizedArrays& w, const Quantization& q,
                      const Extents& e, const std::optional<Indices>& indices, array& out,
                      Stream s) {
  const int at_once = e.m == 1 ? 1 : kVectorsAtOnce;
  const int parts = (e.m + at_once - 1) / at_once;
  const MatvecParams p = matvec_params(e, parts * at_once, indices.has_value());
  Arranged arranged = arrange(row_contiguous(x, s), q, p, s);
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(vector_kernel(true, q, out.dtype(), at_once));
  encoder.set_input_array(w.w, 0);
  encoder.set_input_array(w.scales, 1);
  encoder.set_input_array(w.biases, 2);
  encoder.set_input_array(arranged.x, 3);
  encoder.set_input_array(arranged.sums, 4);
  encoder.set_output_array(out, 5);
  encoder.set_input_array(indices ? indices->lhs : w.w, 6);
  encoder.set_input_array(indices ? indices->rhs : w.w, 7);
  encoder.set_bytes(p, 8);
  dispatch_grid(encoder, e.n * kLanes, parts, e.pairs);
}

// Binds what kernels need that read the vectors as they are.
template <typename Params>
metal::CommandEncoder& bind_vectors(MTL::ComputePipelineState* kernel, const QuantizedArrays& w,
                                    const array& vectors, array& out,
                                    const std::optional<Indices>& indices, const Params& params,
                                    Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(w.w, 0);
  encoder.set_input_array(w.scales, 1);
  encoder.set_input_array(w.biases, 2);
  encoder.set_input_array(vectors, 3);
  encoder.set_output_array(out, 4);
  encoder.set_input_array(indices ? indices->lhs : w.w, 5);
  encoder.set_input_array(indices ? indices->rhs : w.w, 6);
  encoder.set_bytes(params, 7);
  return encoder;
}

// Whether SIMD-group matrices multiply the integers of w, which pays on a GPU.
bool has_matrices_of_integers(const Quantization& q, Dtype dtype, Stream s) {
  return runs_on_gpu(s) && q.affine() && (q.bits == 4 || q.bits == 8) &&
         (dtype == float16 || dtype == bfloat16);
}

// x @ w.T: a threadgroup has a few rows of w.
void multiply_matrices_of_integers(const array& x, const QuantizedArrays& w, const Quantization& q,
                                   const Extents& e, const std::optional<Indices>& indices,
                                   array& out, Stream s) {
  const MatvecParams p = matvec_params(e, e.m, indices.has_value());
  const array vectors = row_contiguous(converted(x, out.dtype(), s), s);
  // With one vector, rows of whole blocks have kernels of their own.
  const bool single = e.m == 1, whole = e.k * q.bits % kBlockBits == 0;
  static KernelTable table(kQuantizedKinds * 4 * kDtypes * 3);
  const int group = q.group_size == 128 ? 3 : q.group_size / 32;
  const int index = (quantized_kind(q) * 4 + group) * kDtypes + dtype_index(out.dtype());
  auto* kernel = table.get(index * 3 + (single ? 1 + whole : 0), [&] {
    return kernel_name(single ? "QuantizedSingle" : "QuantizedFew", quantized_name(q),
                       std::to_string(q.group_size), type_name(out.dtype())) +
           (single && !whole ? "_any" : "");
  });
  auto& encoder = bind_vectors(kernel, w, vectors, out, indices, p, s);
  const auto tiles = [](int length, int tile) {
    return static_cast<size_t>((length + tile - 1) / tile);
  };
  const MTL::Size grid(tiles(e.n, kFewVectorsRows), tiles(e.m, kFewVectors), e.pairs);
  // So many threads keep a GPU busy; of more threadgroups, each needs fewer.
  constexpr size_t kManyThreads = 1 << 16;
  const size_t threads = std::bit_floor(kManyThreads / (grid.width * grid.height * grid.depth) + 1);
  encoder.dispatch_threadgroups(
      grid,
      MTL::Size(std::clamp<size_t>(threads, single ? 32 : 128, kFewVectorsMostThreads), 1, 1));
}

// x @ w: a thread has columns of a part of w's rows; then the parts are added up.
void multiply_by_columns(const array& x, const QuantizedArrays& w, const Quantization& q,
                         const Extents& e, const std::optional<Indices>& indices, array& out,
                         Stream s) {
  const int at_once = e.m == 1 ? 1 : kVectorsAtOnce;
  const auto pairs = static_cast<int>(e.pairs);
  const int most = std::max(1, kMaxParts / pairs);
  const int rows =
      std::max(runs_on_gpu(s) ? kMinRowsOnGpu : kMinRowsOfPart, (e.k + most - 1) / most);
  const int parts = (e.k + rows - 1) / rows;
  const VecmatParams p{static_cast<uint32_t>(e.n),         static_cast<uint32_t>(e.k),
                       static_cast<uint32_t>(rows),        static_cast<uint32_t>(parts),
                       static_cast<uint32_t>(e.m),         indices ? 1u : 0u,
                       static_cast<uint32_t>(e.batches_x), static_cast<uint32_t>(e.batches_w)};
  const array vectors = row_contiguous(converted(x, out.dtype(), s), s);
  array sums = temporary({pairs, parts, e.m, e.n}, float32, s);
  const int numbers = numbers_of_pack(q.bits);
  auto* kernel = vector_kernel(false, q, out.dtype(), at_once);
  auto& encoder = bind_vectors(kernel, w, vectors, sums, indices, p, s);
  dispatch_grid(encoder, e.n / numbers, (e.m + at_once - 1) / at_once, e.pairs * parts, kThreads);
  static KernelTable table(kDtypes);
  encoder.set_compute_pipeline_state(table.get(
      dtype_index(out.dtype()), [&] { return kernel_name("SumParts", type_name(out.dtype())); }));
  encoder.set_input_array(sums, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(p, 2);
  encoder.set_bytes(static_cast<uint32_t>(numbers), 3);
  dispatch_grid(encoder, e.n, e.m, e.pairs);
}

// ---- many vectors ----

// Pairs grouped by their matrix of w. The groups are known once a task of the stream has run.
struct Grouping {
  std::shared_ptr<std::optional<cpu::Groups>> groups;
  array uses;  // of each matrix of w
};

Grouping group(const Indices& indices, const Extents& e, Stream s) {
  Grouping out{std::make_shared<std::optional<cpu::Groups>>(), temporary({e.batches_w}, int32, s)};
  cpu::get_command_encoder(s).dispatch([e, groups = out.groups, lhs = indices.lhs.data<int>(),
                                        rhs = indices.rhs.data<int>(),
                                        uses = out.uses.data<int>()] {
    groups->emplace(lhs, rhs, e.pairs, e.batches_x, e.batches_w);
    for (int g = 0; g < e.batches_w; ++g) uses[g] = static_cast<int>((*groups)->size(g));
  });
  return out;
}

// The product with some dequantised rows of a matrix of w.
struct RowsProduct {
  cpu::Product p;
  int64_t from_x, from_out;  // where the columns of x and of the output that take part begin
};

RowsProduct rows_product(const Extents& e, bool transpose, int first, int count) {
  if (transpose) {
    return {{e.m, count, e.k, false, true, e.k, e.k, e.n, 1.0, 0.0}, 0, first};
  }
  return {{e.m, e.n, count, false, false, e.k, e.n, e.n, 1.0, first > 0 ? 1.0 : 0.0}, first, 0};
}

void multiply_floats(const array& x, const QuantizedArrays& w, const Quantization& q,
                     const Extents& e, bool transpose, const std::optional<Indices>& indices,
                     array& out, Stream s) {
  const int rows = transpose ? e.n : e.k, columns = transpose ? e.k : e.n;
  const int at_once =
      static_cast<int>(std::clamp<int64_t>(kFloatsAtOnce / columns, std::min(rows, 16), rows));
  array floats = temporary({at_once, columns}, float32, s);
  std::optional<Grouping> grouping;
  if (indices) grouping = group(*indices, e, s);
  for (int batch = 0; batch < e.batches_w; ++batch) {
    for (int first = 0; first < rows; first += at_once) {
      const int count = std::min(at_once, rows - first);
      QuantizedPart part{(static_cast<size_t>(batch) * rows + first) * columns,
                         static_cast<size_t>(count) * columns};
      if (grouping) part.uses = &grouping->uses;
      part.use = batch;
      dequantize_part(w, q, part, floats, s);
      const RowsProduct product = rows_product(e, transpose, first, count);
      auto groups = grouping ? grouping->groups : nullptr;
      cpu::get_command_encoder(s).dispatch(
          [product, groups, batch, a = x.data<float>() + product.from_x, b = floats.data<float>(),
           c = out.data<float>() + product.from_out] {
            const cpu::BlasOnThisThread alone;
            if (!groups) return cpu::shared_gemm(product.p, a, b, c);
            cpu::multiply_group(**groups, batch, product.p, a, b, c,
                                [](const auto&... arguments) { cpu::shared_gemm(arguments...); });
          });
    }
  }
}

// The rows of x and of the output that belong to one matrix of w.
struct RowsOfMatrix {
  std::vector<int64_t> x, out;

  RowsOfMatrix(const cpu::Groups& groups, int matrix, int rows_of_pair) {
    const size_t first = groups.first[matrix];
    for (size_t pair = first; pair < first + groups.size(matrix); ++pair) {
      for (int64_t row = 0; row < rows_of_pair; ++row) {
        x.push_back(int64_t{groups.left[pair]} * rows_of_pair + row);
        out.push_back(static_cast<int64_t>(groups.pair[pair]) * rows_of_pair + row);
      }
    }
  }
};

cpu::QuantizedMatrix matrix_of(const QuantizedArrays& w, const Quantization& q, const Extents& e,
                               int batch) {
  const int64_t row = int64_t{batch} * e.n, groups = row * (e.k / q.group_size);
  const auto bytes = static_cast<int64_t>(w.scales.itemsize()) * groups;
  return {e.n,
          e.k,
          q.bits,
          q.group_size,
          w.w.data<uint32_t>() + row * q.words(e.k),
          w.scales.data<char>() + bytes,
          w.biases.data<char>() + bytes};
}

// By a product that reads quantised integers. x, the scales and the output have one type.
void multiply_integers(const array& x, const QuantizedArrays& w, const Quantization& q,
                       const Extents& e, const std::optional<Indices>& indices, array& out,
                       Stream s) {
  std::vector<cpu::QuantizedMatrix> matrices;
  for (int batch = 0; batch < e.batches_w; ++batch) matrices.push_back(matrix_of(w, q, e, batch));
  const cpu::QuantizedProduct product(out.dtype(), e.pairs * e.m, matrices[0], s);
  const auto groups = indices ? group(*indices, e, s).groups : nullptr;
  cpu::get_command_encoder(s).dispatch([=, m = e.m, from = x.data<char>(), to = out.data<char>()] {
    if (!groups) return product.multiply(from, {}, m, matrices[0], to, {});
    for (size_t i = 0; i < matrices.size(); ++i) {
      const RowsOfMatrix rows(**groups, static_cast<int>(i), m);
      product.multiply(from, {rows.x.data()}, static_cast<int>(rows.x.size()), matrices[i], to,
                       {rows.out.data()});
    }
  });
}

// Whether the host multiplies floats of this type by all of w, which is not too large as such.
bool multiplies_on_host(const array& x, Dtype dtype, const Extents& e) {
  return x.dtype() == dtype && cpu::is_too_short_for_blas(dtype) &&
         cpu::multiplies_natively(dtype) && int64_t{e.n} * e.k <= kShortFloatsAtOnce;
}

// The whole of w becomes floats of the output's type.
void multiply_dequantized(const array& x, const QuantizedArrays& w, const Quantization& q,
                          const Extents& e, bool transpose, const std::optional<Indices>& indices,
                          array& out, Stream s) {
  const int rows = transpose ? e.n : e.k, columns = transpose ? e.k : e.n;
  array floats = temporary({e.batches_w, rows, columns}, out.dtype(), s);
  dequantize_part(w, q, {0, floats.size()}, floats, s);
  array matrices({e.batches_w, e.k, e.n}, out.dtype(), nullptr, {});
  const int64_t size = int64_t{rows} * columns;
  make_view(floats, matrices, transpose ? Strides{size, 1, columns} : Strides{size, columns, 1});
  const array left = converted(x, out.dtype(), s);
  if (indices) {
    return gather_mm_on_device({left, matrices, indices->lhs, indices->rhs}, out, s);
  }
  array matrix({e.k, e.n}, out.dtype(), nullptr, {});
  make_view(matrices, matrix, {matrices.strides(1), matrices.strides(2)});
  const bool on_device = runs_on_gpu(s);
  (on_device ? multiply_on_device : cpu::multiply)(left, matrix, out, 1.0, 0.0, s);
}

void multiply(const array& x, const QuantizedArrays& w, const Quantization& q, const Extents& e,
              bool transpose, const std::optional<Indices>& indices, array& out, Stream s) {
  allocate_output(out);
  const size_t used = std::min<size_t>(e.pairs, e.batches_w);
  if (e.pairs * e.m < kManyVectors * used) {
    auto* multiply_few = !transpose ? multiply_by_columns
                         : has_matrices_of_integers(q, out.dtype(), s)
                             ? multiply_matrices_of_integers
                             : multiply_by_rows;
    return multiply_few(x, w, q, e, indices, out, s);
  }
  if (transpose && !runs_on_gpu(s) && cpu::QuantizedProduct::is_supported(q, out.dtype())) {
    return multiply_integers(row_contiguous(x, s), w, q, e, indices, out, s);
  }
  if (runs_on_gpu(s) || (!indices && multiplies_on_host(x, out.dtype(), e))) {
    return multiply_dequantized(x, w, q, e, transpose, indices, out, s);
  }
  const array floats = converted(x, float32, s);
  if (out.dtype() == float32) {
    return multiply_floats(floats, w, q, e, transpose, indices, out, s);
  }
  array result = temporary(out.shape(), float32, s);
  multiply_floats(floats, w, q, e, transpose, indices, result, s);
  copy_inplace(result, out, CopyType::Vector, s);
}

}  // namespace

MLX_EVAL(QuantizedMatmul) {
  const array& x = inputs[0];
  const Extents e{x.shape(0), out.shape(1), x.shape(1), 1, 1, 1};
  multiply(x, QuantizedArrays(inputs, 1, quantization_, stream()), quantization_, e, transpose_,
           std::nullopt, out, stream());
}

MLX_EVAL(GatherQMM) {
  const array& x = inputs[0];
  const size_t last = inputs.size() - 1;
  const Indices indices{row_contiguous(inputs[last - 1], stream()),
                        row_contiguous(inputs[last], stream())};
  const Extents e{x.shape(1), out.shape(-1),      x.shape(2),
                  x.shape(0), inputs[1].shape(0), indices.rhs.size()};
  multiply(x, QuantizedArrays(inputs, 1, quantization_, stream()), quantization_, e, transpose_,
           indices, out, stream());
}

}  // namespace mlx::core
