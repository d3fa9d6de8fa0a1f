// axpby: evaluation, by loops on the host and by kernels on the Metal device.
#include "axpby/axpby.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

// So many elements are worth a core's attention.
constexpr size_t kGrain = 1 << 16;

// Elements at the same place of x and y belong together, and there are no gaps.
bool is_contiguous(const mx::array& x, const mx::array& y) {
  return (x.flags().row_contiguous && y.flags().row_contiguous) ||
         (x.flags().col_contiguous && y.flags().col_contiguous);
}

// Memory for the result: an operand's that nobody else needs, or fresh, laid out as x is.
void allocate(const mx::array& x, const mx::array& y, mx::array& out, bool contiguous) {
  if (!contiguous) {
    out.set_data(mx::allocator::malloc(out.nbytes()));
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
T combine(T x, T y, float alpha, float beta) {
  return T(alpha * static_cast<float>(x) + beta * static_cast<float>(y));
}

mx::complex64_t combine(mx::complex64_t x, mx::complex64_t y, float alpha, float beta) {
  return {alpha * x.real() + beta * y.real(), alpha * x.imag() + beta * y.imag()};
}

// One pass over memory. BLAS's axpby works in place, so that y would have to be copied first.
template <typename T>
void run_contiguous(const T* x, const T* y, T* out, size_t n, float alpha, float beta) {
  mx::cpu::parallel_for(n, kGrain, [=](size_t first, size_t last) {
  // An operand's memory may be the result's: each element is read before it is written.
#pragma GCC ivdep
    for (size_t i = first; i < last; ++i) {
      out[i] = combine(x[i], y[i], alpha, beta);
    }
  });
}

// Strided operands, element by element.
struct Walk {
  mx::Shape shape;
  mx::Strides x_strides;
  mx::Strides y_strides;
};

template <typename T>
void run_general(const T* x, const T* y, T* out, size_t n, const Walk& walk, float alpha,
                 float beta) {
  mx::cpu::parallel_for(n, kGrain, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      out[i] = combine(x[mx::elem_to_loc(i, walk.shape, walk.x_strides)],
                       y[mx::elem_to_loc(i, walk.shape, walk.y_strides)], alpha, beta);
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
    encoder.dispatch([=, walk = Walk{out.shape(), x.strides(), y.strides()}] {
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
  allocate(x, y, out, contiguous);
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
  auto& x = inputs[0];
  auto& y = inputs[1];
  auto& out = outputs[0];
  bool contiguous = is_contiguous(x, y);
  allocate(x, y, out, contiguous);

  // The library lies beside the binary that holds this code.
  auto& d = mx::metal::device(stream().device);
  auto* library = d.get_library("mlx_ext", mx::metal::get_colocated_mtllib_path("mlx_ext"));
  auto* kernel = d.get_kernel(
      (contiguous ? "axpby_contiguous_" : "axpby_general_") + mx::type_to_name(out), library);

  auto& encoder = d.get_command_encoder(stream().index);
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
