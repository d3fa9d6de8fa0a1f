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

template <typename F>
void binary_walk(const array& a, const array& b, const array& out, Stream s, F f) {
  bool scalar_a = a.data_size() == 1;
  bool scalar_b = b.data_size() == 1;
  bool line = (scalar_a || is_line(a)) && (scalar_b || is_line(b)) &&
              (scalar_a || scalar_b || a.strides() == b.strides());
  Shape shape = line ? Shape{static_cast<int>(out.data_size())} : out.shape();
  std::array<Strides, 2> strides = {a.strides(), b.strides()};
  if (line) {
    strides = {Strides{scalar_a ? 0 : 1}, Strides{scalar_b ? 0 : 1}};
  }
  get_command_encoder(s).dispatch([=, x = a.data<double>(), y = b.data<double>()] {
    walk<2>(shape, strides, [&](int64_t i, int64_t p, int64_t q) { f(i, x[p], y[q]); });
  });
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
  bool line = is_line(in);
  Shape shape = line ? Shape{static_cast<int>(in.data_size())} : in.shape();
  std::array<Strides, 1> strides = {line ? Strides{1} : in.strides()};
  with_function(op, [&](auto f) {
    using Value = std::invoke_result_t<decltype(f), double>;
    if constexpr (std::is_same_v<Value, None>) {
      internal_error("unary_float64", op_name(op));
    } else {
      static_assert(std::is_same_v<Value, double>, "not a function on double");
      get_command_encoder(s).dispatch([=, from = in.data<double>(), to = out.data<double>()] {
        walk<1>(shape, strides, [&](int64_t i, int64_t p) { to[i] = f(from[p]); });
      });
    }
  });
}

void binary_float64(BinaryOp op, const array& a, const array& b, array& out, Stream s) {
  with_function(op, [&](auto f) {
    using Value = std::invoke_result_t<decltype(f), double, double>;
    if constexpr (std::is_same_v<Value, None>) {
      internal_error("binary_float64", op_name(op));
    } else {
      static_assert(std::is_same_v<Value, double> || std::is_same_v<Value, bool>,
                    "neither a function on double nor a comparison");
      binary_walk(a, b, out, s,
                  [f, to = out.data<Value>()](int64_t i, double x, double y) { to[i] = f(x, y); });
    }
  });
}

void divmod_float64(const array& a, const array& b, array& quotient, array& rest, Stream s) {
  binary_walk(
      a, b, quotient, s,
      [q = quotient.data<double>(), r = rest.data<double>()](int64_t i, double x, double y) {
        q[i] = std::floor(x / y);
        r[i] = remainder(x, y);
      });
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
