// Elementwise operations and conversions of float64.
#include "mlx/backend/host/float64.h"

#include <type_traits>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/float64_math.h"
#include "mlx/backend/host/walk.h"
#include "mlx/dtype_utils.h"
#include "mlx/errors.h"

namespace mlx::core::cpu {

namespace {

// An output with its operands' layout is processed in memory order; others are row-contiguous.
bool is_line(const array& in) { return in.flags().contiguous; }

// An operation on the elements of one line, `step` apart in memory. Each operation has a function
// of this kind; what finds and schedules the lines is shared by all.
using UnaryLine = void (*)(const double* in, int64_t step, double* out, int64_t count);
template <typename To>
using BinaryLine = void (*)(const double* a, int64_t a_step, const double* b, int64_t b_step,
                            To* out, int64_t count);

template <typename To>
void binary_lines(BinaryLine<To> line, const array& a, const array& b, array& out, Stream s) {
  bool scalar_a = a.data_size() == 1;
  bool scalar_b = b.data_size() == 1;
  bool is_one_line = (scalar_a || is_line(a)) && (scalar_b || is_line(b)) &&
                     (scalar_a || scalar_b || a.strides() == b.strides());
  Shape shape = is_one_line ? Shape{static_cast<int>(out.data_size())} : out.shape();
  std::array<Strides, 2> strides = {a.strides(), b.strides()};
  if (is_one_line) {
    strides = {Strides{scalar_a ? 0 : 1}, Strides{scalar_b ? 0 : 1}};
  }
  get_command_encoder(s).dispatch(
      [=, x = a.data<double>(), y = b.data<double>(), to = out.data<To>()] {
        walk_lines<2>(shape, strides,
                      [&](int64_t i, const auto& offsets, const auto& steps, int64_t count) {
                        line(x + offsets[0], steps[0], y + offsets[1], steps[1], to + i, count);
                      });
      });
}

// The line of a function without state.
template <typename F, typename To>
void apply_to_line(const double* a, int64_t a_step, const double* b, int64_t b_step, To* out,
                   int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = F()(a[i * a_step], b[i * b_step]);
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_same_v<From, complex64_t>) {
    return static_cast<To>(value.real());
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

void unary_float64(UnaryOp op, const array& in, array& out, Stream s) {
  bool is_one_line = is_line(in);
  Shape shape = is_one_line ? Shape{static_cast<int>(in.data_size())} : in.shape();
  std::array<Strides, 1> strides = {is_one_line ? Strides{1} : in.strides()};
  UnaryLine line = nullptr;
  with_function(op, [&]<typename F>(F) {
    using Value = std::invoke_result_t<F, double>;
    if constexpr (std::is_same_v<Value, None>) {
      internal_error("unary_float64", op_name(op));
    } else {
      static_assert(std::is_same_v<Value, double>, "not a function on double");
      line = [](const double* from, int64_t step, double* to, int64_t count) {
        for (int64_t i = 0; i < count; ++i) to[i] = F()(from[i * step]);
      };
    }
  });
  get_command_encoder(s).dispatch([=, from = in.data<double>(), to = out.data<double>()] {
    walk_lines<1>(shape, strides,
                  [&](int64_t i, const auto& offsets, const auto& steps, int64_t count) {
                    line(from + offsets[0], steps[0], to + i, count);
                  });
  });
}

void binary_float64(BinaryOp op, const array& a, const array& b, array& out, Stream s) {
  with_function(op, [&]<typename F>(F) {
    using Value = std::invoke_result_t<F, double, double>;
    if constexpr (std::is_same_v<Value, None>) {
      internal_error("binary_float64", op_name(op));
    } else {
      static_assert(std::is_same_v<Value, double> || std::is_same_v<Value, bool>,
                    "neither a function on double nor a comparison");
      binary_lines<Value>(apply_to_line<F, Value>, a, b, out, s);
    }
  });
}

void divmod_float64(const array& a, const array& b, array& quotient, array& rest, Stream s) {
  auto quotient_of = [](double x, double y) { return std::floor(x / y); };
  auto rest_of = [](double x, double y) { return remainder(x, y); };
  binary_lines<double>(apply_to_line<decltype(quotient_of), double>, a, b, quotient, s);
  binary_lines<double>(apply_to_line<decltype(rest_of), double>, a, b, rest, s);
}

void arange_float64(double start, double step, array& out, Stream s) {
  get_command_encoder(s).dispatch([=, to = out.data<double>(), n = out.size()] {
    for (size_t i = 0; i < n; ++i) {
      to[i] = start + static_cast<double>(i) * step;
    }
  });
}

void convert_float64(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                     const Strides& out_strides, int64_t in_offset, int64_t out_offset, Stream s) {
  std::array<Strides, 2> strides = {in_strides, out_strides};
  auto schedule = [&]<typename From, typename To>(const From* from, To* to) {
    get_command_encoder(s).dispatch([=, from = from + in_offset, to = to + out_offset] {
      walk<2>(shape, strides, [&](int64_t, int64_t p, int64_t q) { to[q] = convert<To>(from[p]); });
    });
  };
  if (in.dtype() == float64) {
    dispatch_all_types(out.dtype(), [&](auto type) {
      schedule(in.data<double>(), out.data<MLX_GET_TYPE(type)>());
    });
  } else {
    dispatch_all_types(in.dtype(), [&](auto type) {
      schedule(in.data<MLX_GET_TYPE(type)>(), out.data<double>());
    });
  }
}

}  // namespace mlx::core::cpu
