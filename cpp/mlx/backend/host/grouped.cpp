// Products of matrices chosen by indices (GatherMM), and of segments of matrices, with BLAS.
#include "mlx/backend/host/grouped.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/matmul.h"
#include "mlx/primitives/grouped.h"

namespace mlx::core {

namespace cpu {

namespace {

int in_range(int64_t index, int count) {
  return static_cast<int>(std::clamp<int64_t>(index < 0 ? index + count : index, 0, count - 1));
}

}  // namespace

Groups::Groups(const int* lhs, const int* rhs, size_t count, int left_count, int right_count)
    : left(count), pair(count), first(right_count + 1) {
  auto group = [&](size_t i) { return in_range(rhs[i], right_count); };
  for (size_t i = 0; i < count; ++i) ++first[group(i) + 1];
  for (int g = 0; g < right_count; ++g) first[g + 1] += first[g];
  std::vector<size_t> next = first;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = next[group(i)]++;
    left[at] = in_range(lhs[i], left_count);
    pair[at] = i;
  }
}

}  // namespace cpu

namespace {

template <typename T>
void schedule_gather(const array& a, const array& b, const array& lhs, const array& rhs, array& out,
                     Stream s) {
  const cpu::Matrices right = cpu::readable_matrices(b, s);
  const int m = a.shape(1), n = b.shape(2), k = a.shape(2);
  const cpu::Product p{m, n,   k,  false, right.transposed, k, static_cast<int>(right.leading),
                       n, 1.0, 0.0};
  const int left_count = a.shape(0), right_count = b.shape(0);
  cpu::get_command_encoder(s).dispatch([=, count = lhs.size(), stride = right.batch_strides[0],
                                        l = lhs.data<int>(), r = rhs.data<int>(), x = a.data<T>(),
                                        y = right.source.data<T>(), z = out.data<T>()] {
    const cpu::BlasOnThisThread alone;
    const cpu::Groups groups(l, r, count, left_count, right_count);
    const size_t used = std::max<size_t>(1, std::min<size_t>(count, right_count));
    cpu::Product group = p;
    group.m = static_cast<int>(m * count / used);
    cpu::for_each_product<T>(right_count, group, [&](size_t g, auto gemm) {
      cpu::multiply_group(groups, static_cast<int>(g), p, x, y + g * stride, z, gemm);
    });
  });
}

template <typename T>
void schedule_segments(const array& a, const array& b, const array& segments, array& out,
                       Stream s) {
  const cpu::Matrices left = cpu::readable_matrices(a, s), right = cpu::readable_matrices(b, s);
  const int m = a.shape(0), n = b.shape(1), k = a.shape(1);
  const size_t count = segments.size() / 2;
  const cpu::Product whole{m,
                           n,
                           k,
                           left.transposed,
                           right.transposed,
                           static_cast<int>(left.leading),
                           static_cast<int>(right.leading),
                           n,
                           1.0,
                           0.0};
  cpu::get_command_encoder(s).dispatch([=, bounds = segments.data<int64_t>(),
                                        x = left.source.data<T>(), y = right.source.data<T>(),
                                        z = out.data<T>()] {
    const cpu::BlasOnThisThread alone;
    const int64_t from_x = whole.ta ? whole.lda : 1, from_y = whole.tb ? 1 : whole.ldb;
    cpu::Product usual = whole;
    usual.k = static_cast<int>(k / std::max<size_t>(count, 1));
    cpu::for_each_product<T>(count, usual, [&](size_t i, auto gemm) {
      const int64_t start = std::clamp<int64_t>(bounds[2 * i], 0, k);
      const int64_t stop = std::clamp<int64_t>(bounds[2 * i + 1], start, k);
      T* to = z + i * m * static_cast<size_t>(n);
      if (start == stop) {
        std::fill(to, to + static_cast<size_t>(m) * n, T(0));
        return;
      }
      cpu::Product p = whole;
      p.k = static_cast<int>(stop - start);
      gemm(p, x + start * from_x, y + start * from_y, to);
    });
  });
}

// Calls f(out) with an array of a type that BLAS supports, and converts the result.
template <typename F>
void in_type_of_blas(array& out, Stream s, F&& f) {
  allocate_output(out);
  if (!cpu::is_too_short_for_blas(out.dtype())) return f(out);
  array result(out.shape(), float32, nullptr, {});
  allocate_output(result);
  metal::get_command_encoder(s).add_temporary(result);
  f(result);
  copy_inplace(result, out, CopyType::Vector, s);
}

array for_blas(const array& a, Stream s) {
  return cpu::is_too_short_for_blas(a.dtype()) ? cpu::widened(a, s) : a;
}

}  // namespace

MLX_EVAL(GatherMM) {
  const Stream s = stream();
  if (runs_on_gpu(s)) {
    allocate_output(out);
    return gather_mm_on_device(inputs, out, s);
  }
  const array a = row_contiguous(for_blas(inputs[0], s), s), b = for_blas(inputs[1], s);
  const array lhs = row_contiguous(inputs[2], s), rhs = row_contiguous(inputs[3], s);
  in_type_of_blas(out, s, [&](array& to) {
    if (to.dtype() == float64) {
      check_float64("gather_mm", s);
      return schedule_gather<double>(a, b, lhs, rhs, to, s);
    }
    schedule_gather<float>(a, b, lhs, rhs, to, s);
  });
}

MLX_EVAL(SegmentedMM) {
  const Stream s = stream();
  if (runs_on_gpu(s)) {
    allocate_output(out);
    return segmented_mm_on_device(inputs, out, s);
  }
  const array a = for_blas(inputs[0], s), b = for_blas(inputs[1], s);
  const array segments = row_contiguous(inputs[2], s);
  in_type_of_blas(out, s, [&](array& to) {
    if (to.dtype() == float64) {
      check_float64("segmented_mm", s);
      return schedule_segments<double>(a, b, segments, to, s);
    }
    schedule_segments<float>(a, b, segments, to, s);
  });
}

}  // namespace mlx::core
