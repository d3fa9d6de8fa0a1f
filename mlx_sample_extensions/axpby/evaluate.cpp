// axpby: evaluation, by loops on the host and by kernels on the Metal device.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "axpby/axpby.h"
#include "evaluation.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/metal/utils.h"
#include "native_loops.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace mlx_sample {

namespace {

// So many elements are worth a core's attention.
constexpr size_t kGrain = 1 << 16;
constexpr size_t kLine = 64;  // bytes that memory moves at once

// Elements at the same place of x and y belong together, and there are no gaps.
bool is_contiguous(const mx::array& x, const mx::array& y) {
  return (x.flags().row_contiguous && y.flags().row_contiguous) ||
         (x.flags().col_contiguous && y.flags().col_contiguous);
}

// Memory for the result: an operand's that nobody else needs, or fresh, laid out as x is.
void allocate_result(const mx::array& x, const mx::array& y, mx::array& out, bool contiguous) {
  if (!contiguous) {
    allocate(out);
  } else if (x.is_donatable()) {
    out.copy_shared_buffer(x);
  } else if (y.is_donatable()) {
    out.copy_shared_buffer(y);
  } else {
    out.set_data(mx::allocator::malloc(x.data_size() * out.itemsize()), x.data_size(), x.strides(),
                 x.flags());
  }
}

template <typename T>
MLX_SAMPLE_INLINE T combine(T x, T y, float alpha, float beta) {
  return T(alpha * static_cast<float>(x) + beta * static_cast<float>(y));
}

MLX_SAMPLE_INLINE mx::complex64_t combine(mx::complex64_t x, mx::complex64_t y, float alpha,
                                          float beta) {
  return {alpha * x.real() + beta * y.real(), alpha * x.imag() + beta * y.imag()};
}

#ifdef __x86_64__
// Eight at a time, as the processor converts them; returns where the rest begins.
[[gnu::target("avx,f16c")]] size_t combine_halves(const mx::float16_t* x, const mx::float16_t* y,
                                                  mx::float16_t* out, size_t n, float alpha,
                                                  float beta) {
  const __m256 a = _mm256_set1_ps(alpha), b = _mm256_set1_ps(beta);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i xs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    __m128i ys = _mm_loadu_si128(reinterpret_cast<const __m128i*>(y + i));
    __m256 sum =
        _mm256_add_ps(_mm256_mul_ps(a, _mm256_cvtph_ps(xs)), _mm256_mul_ps(b, _mm256_cvtph_ps(ys)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#endif

// An operand's memory may be the result's: each element is read before it is written.
template <typename T>
MLX_SAMPLE_NATIVE void combine_row(const T* x, const T* y, T* out, size_t n, float alpha,
                                   float beta) {
  size_t i = 0;
#ifdef __x86_64__
  if constexpr (std::is_same_v<T, mx::float16_t>) {
    if (__builtin_cpu_supports("f16c")) i = combine_halves(x, y, out, n, alpha, beta);
  }
#endif
#pragma GCC ivdep
  for (; i < n; ++i) {
    out[i] = combine(x[i], y[i], alpha, beta);
  }
}

// The same for a result that no cache will hold: its lines are not read before they are written.
// Not in place.
template <typename T>
void combine_streamed(const T* x, const T* y, T* out, size_t n, float alpha, float beta) {
  constexpr size_t kBlock = 512 / sizeof(T);
  alignas(kLine) T block[kBlock];
  const size_t to_line = (kLine - reinterpret_cast<uintptr_t>(out) % kLine) % kLine / sizeof(T);
  size_t i = std::min(to_line, n);
  combine_row(x, y, out, i, alpha, beta);
  for (; i < n; i += kBlock) {
    const size_t count = std::min(kBlock, n - i);
    combine_row(x + i, y + i, block, count, alpha, beta);
    stream_row(reinterpret_cast<char*>(out + i), reinterpret_cast<const char*>(block),
               count * sizeof(T));
  }
  finish_streaming();
}

// One pass over memory. BLAS's axpby works in place, so that y would have to be copied first.
template <typename T>
void run_contiguous(const T* x, const T* y, T* out, size_t n, float alpha, float beta) {
  const bool streams = n * sizeof(T) > kBeyondCaches && out != x && out != y;
  mx::cpu::parallel_for(n, kGrain, [=](size_t first, size_t last) {
    (streams ? combine_streamed<T> : combine_row<T>)(x + first, y + first, out + first,
                                                     last - first, alpha, beta);
  });
}

// Strided operands, with as few axes as they can be described by; at least one.
struct Walk {
  mx::Shape shape;
  std::vector<mx::Strides> strides;  // of x and y
};

// Row by row along the last axis.
template <typename T>
void run_general(const T* x, const T* y, T* out, size_t n, const Walk& walk, float alpha,
                 float beta) {
  const auto length = static_cast<size_t>(walk.shape.back());
  const int64_t x_step = walk.strides[0].back(), y_step = walk.strides[1].back();
  mx::cpu::parallel_for(n, kGrain, [&](size_t first, size_t last) {
    while (first < last) {
      const size_t count = std::min(last - first, length - first % length);
      const T* u = x + mx::elem_to_loc(first, walk.shape, walk.strides[0]);
      const T* v = y + mx::elem_to_loc(first, walk.shape, walk.strides[1]);
      T* to = out + first;
      first += count;
      if (x_step == 1 && y_step == 1) {
        combine_row(u, v, to, count, alpha, beta);
        continue;
      }
      for (size_t i = 0; i < count; ++i, u += x_step, v += y_step) {
        to[i] = combine(*u, *v, alpha, beta);
      }
    }
  });
}

template <typename T>
void run(const mx::array& x, const mx::array& y, mx::array& out, bool contiguous, float alpha,
         float beta, mx::Stream s) {
  auto& encoder = mx::cpu::get_command_encoder(s);
  encoder.set_input_array(x);
  encoder.set_input_array(y);
  encoder.set_output_array(out);
  const T* x_data = x.data<T>();
  const T* y_data = y.data<T>();
  T* out_data = out.data<T>();
  if (contiguous) {
    size_t n = out.data_size();
    encoder.dispatch([=] { run_contiguous(x_data, y_data, out_data, n, alpha, beta); });
  } else {
    size_t n = out.size();
    auto [shape, strides] = mx::collapse_contiguous_dims({x, y});
    encoder.dispatch([=, walk = Walk{std::move(shape), std::move(strides)}] {
      run_general(x_data, y_data, out_data, n, walk, alpha, beta);
    });
  }
}

}  // namespace

void Axpby::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto& x = inputs[0];
  auto& y = inputs[1];
  auto& out = outputs[0];
  bool contiguous = is_contiguous(x, y);
  allocate_result(x, y, out, contiguous);
  switch (out.dtype().val()) {
    case mx::Dtype::Val::float16:
      return run<mx::float16_t>(x, y, out, contiguous, alpha_, beta_, stream());
    case mx::Dtype::Val::bfloat16:
      return run<mx::bfloat16_t>(x, y, out, contiguous, alpha_, beta_, stream());
    case mx::Dtype::Val::float32:
      return run<float>(x, y, out, contiguous, alpha_, beta_, stream());
    case mx::Dtype::Val::complex64:
      return run<mx::complex64_t>(x, y, out, contiguous, alpha_, beta_, stream());
    default:
      throw std::logic_error("[Axpby::eval_cpu] The operation lets no other type through.");
  }
}

void Axpby::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  // A grid has fewer than 2^32 threads, and the kernels count in 32 bits; the host does not.
  if (outputs[0].size() > std::numeric_limits<uint32_t>::max()) {
    return eval_cpu(inputs, outputs);
  }
  auto& x = inputs[0];
  auto& y = inputs[1];
  auto& out = outputs[0];
  bool contiguous = is_contiguous(x, y);
  allocate_result(x, y, out, contiguous);

  auto* kernel = find_kernel(
      (contiguous ? "axpby_contiguous_" : "axpby_general_") + mx::type_to_name(out), stream());
  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(x, 0);
  encoder.set_input_array(y, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(alpha_, 3);
  encoder.set_bytes(beta_, 4);
  if (!contiguous) {
    encoder.set_vector_bytes(out.shape(), 5);
    encoder.set_vector_bytes(x.strides(), 6);
    encoder.set_vector_bytes(y.strides(), 7);
    encoder.set_bytes(static_cast<int>(out.ndim()), 8);
  }
  size_t n = contiguous ? out.data_size() : out.size();
  auto group = std::min<size_t>(n, kernel->maxTotalThreadsPerThreadgroup());
  encoder.dispatch_threads(MTL::Size(n, 1, 1), MTL::Size(group, 1, 1));
}

}  // namespace mlx_sample
