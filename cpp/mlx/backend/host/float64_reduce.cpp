// Reductions, scans, softmax and scatters of float64.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/host/float64_math.h"
#include "mlx/backend/host/walk.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/reduce.h"

namespace mlx::core::cpu {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class FoldOp { Sum, Prod, Min, Max, LogAddExp, Replace };

FoldOp fold_op(Reduce::ReduceType op) {
  switch (op) {
    case Reduce::And:  // of truth values as 0 and 1
    case Reduce::Min:
      return FoldOp::Min;
    case Reduce::Or:
    case Reduce::Max:
      return FoldOp::Max;
    case Reduce::Sum:
    case Reduce::Mean:
      return FoldOp::Sum;
    case Reduce::Prod:
      return FoldOp::Prod;
  }
  throw std::logic_error("[reduce_float64] no such reduction");
}

FoldOp fold_op(Scan::ReduceType op) {
  switch (op) {
    case Scan::Max:
      return FoldOp::Max;
    case Scan::Min:
      return FoldOp::Min;
    case Scan::Sum:
      return FoldOp::Sum;
    case Scan::Prod:
      return FoldOp::Prod;
    case Scan::LogAddExp:
      return FoldOp::LogAddExp;
  }
  throw std::logic_error("[scan_float64] no such scan");
}

FoldOp fold_op(Scatter::ReduceType op) {
  switch (op) {
    case Scatter::Max:
      return FoldOp::Max;
    case Scatter::Min:
      return FoldOp::Min;
    case Scatter::Sum:
      return FoldOp::Sum;
    case Scatter::Prod:
      return FoldOp::Prod;
    case Scatter::None:
      return FoldOp::Replace;
  }
  throw std::logic_error("[scatter_float64] no such scatter");
}

// The neutral element of the operation.
double neutral(FoldOp op) {
  switch (op) {
    case FoldOp::Sum:
    case FoldOp::Replace:
      return 0.0;
    case FoldOp::Prod:
      return 1.0;
    case FoldOp::Min:
      return kInfinity;
    case FoldOp::Max:
    case FoldOp::LogAddExp:
      return -kInfinity;
  }
  throw std::logic_error("[neutral] no such operation");
}

double combine(FoldOp op, double a, double b) {
  switch (op) {
    case FoldOp::Sum:
      return a + b;
    case FoldOp::Prod:
      return a * b;
    case FoldOp::Min:
      return minimum(a, b);
    case FoldOp::Max:
      return maximum(a, b);
    case FoldOp::LogAddExp:
      return logaddexp(a, b);
    case FoldOp::Replace:
      return b;
  }
  throw std::logic_error("[combine] no such operation");
}

// Strides of the output, by axis of the input: 0 along reduced axes.
Strides reduced_strides(const array& out, const std::vector<int>& axes) {
  Strides strides = make_contiguous_strides(out.shape());
  for (int axis : axes) {
    strides[axis] = 0;
  }
  return strides;
}

struct Line {
  size_t outer = 1;
  size_t length;
  size_t inner = 1;
  Line(const array& a, int axis) : length(a.shape(axis)) {
    for (int d = 0; d < static_cast<int>(a.ndim()); ++d) {
      (d < axis ? outer : inner) *= d == axis ? 1 : a.shape(d);
    }
  }
};

double log_sum_exp(const double* row, size_t n) {
  double top = -kInfinity;
  for (size_t i = 0; i < n; ++i) {
    top = maximum(top, row[i]);
  }
  double shift = std::isinf(top) ? 0.0 : top;
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) {
    sum += std::exp(row[i] - shift);
  }
  return std::log(sum) + shift;
}

}  // namespace

void reduce_float64(Reduce::ReduceType op, const array& in, array& out,
                    const std::vector<int>& axes, Stream s) {
  std::array<Strides, 2> strides = {in.strides(), reduced_strides(out, axes)};
  if (op == Reduce::And || op == Reduce::Or) {
    get_command_encoder(s).dispatch([=, shape = in.shape(),
                                     from = in.size() ? in.data<double>() : nullptr,
                                     to = out.data<bool>(), n = out.size()] {
      std::fill(to, to + n, op == Reduce::And);
      walk<2>(shape, strides, [&](int64_t, int64_t p, int64_t q) {
        bool value = from[p] != 0.0;
        to[q] = op == Reduce::And ? to[q] && value : to[q] || value;
      });
    });
    return;
  }
  get_command_encoder(s).dispatch(
      [=, shape = in.shape(), from = in.size() ? in.data<double>() : nullptr,
       to = out.data<double>(), n = out.size(), count = in.size() / out.size()] {
        const FoldOp fold = fold_op(op);
        std::fill(to, to + n, neutral(fold));
        walk<2>(shape, strides,
                [&](int64_t, int64_t p, int64_t q) { to[q] = combine(fold, to[q], from[p]); });
        if (op != Reduce::Mean) return;
        for (size_t i = 0; i < n; ++i) to[i] /= static_cast<double>(count);
      });
}

void arg_reduce_float64(bool least, const array& in, array& out, int axis, Stream s) {
  std::array<Strides, 2> strides = {in.strides(), make_contiguous_strides(out.shape())};
  Shape shape = in.shape();
  int length = shape[axis];
  int64_t step = in.strides(axis);
  shape[axis] = 1;
  get_command_encoder(s).dispatch([=, from = in.data<double>(), to = out.data<uint32_t>()] {
    walk<2>(shape, strides, [&](int64_t, int64_t p, int64_t q) {
      double best = from[p];
      uint32_t index = 0;
      for (int i = 1; i < length; ++i) {
        double x = from[p + i * step];
        bool better = std::isnan(x) || (least ? x < best : x > best);
        if (better && !std::isnan(best)) {
          best = x;
          index = i;
        }
      }
      to[q] = index;
    });
  });
}

void scan_float64(Scan::ReduceType op, const array& in, array& out, int axis, bool reverse,
                  bool inclusive, Stream s) {
  Line line(in, axis);
  const FoldOp fold = fold_op(op);
  get_command_encoder(s).dispatch([=, from = in.data<double>(), to = out.data<double>()] {
    for (size_t k = 0; k < line.outer * line.inner; ++k) {
      size_t start = k / line.inner * line.length * line.inner + k % line.inner;
      double sum = neutral(fold);
      for (size_t i = 0; i < line.length; ++i) {
        size_t at = start + (reverse ? line.length - 1 - i : i) * line.inner;
        double next = combine(fold, sum, from[at]);
        to[at] = inclusive ? next : sum;
        sum = next;
      }
    }
  });
}

void softmax_float64(const array& in, array& out, Stream s) {
  size_t n = in.shape(-1);
  get_command_encoder(s).dispatch(
      [n, rows = in.size() / n, from = in.data<double>(), to = out.data<double>()] {
        for (size_t r = 0; r < rows; ++r) {
          double norm = log_sum_exp(from + r * n, n);
          for (size_t i = 0; i < n; ++i) {
            to[r * n + i] = std::exp(from[r * n + i] - norm);
          }
        }
      });
}

void logsumexp_float64(const array& in, array& out, Stream s) {
  size_t n = in.shape(-1);
  get_command_encoder(s).dispatch(
      [n, rows = out.size(), from = in.data<double>(), to = out.data<double>()] {
        for (size_t r = 0; r < rows; ++r) {
          to[r] = log_sum_exp(from + r * n, n);
        }
      });
}

void scatter_float64(Scatter::ReduceType op, const array& updates, const array& offsets, array& out,
                     const Shape& slice, Stream s) {
  std::array<Strides, 1> strides = {out.strides()};
  get_command_encoder(s).dispatch([=, from = updates.data<double>(), at = offsets.data<int64_t>(),
                                   to = out.data<double>(), count = offsets.size()] {
    const FoldOp fold = fold_op(op);
    const size_t size = shape_size(slice);
    for (size_t i = 0; i < count; ++i) {
      if (at[i] >= 0) {
        walk<1>(slice, strides, [&](int64_t j, int64_t p) {
          double& cell = to[at[i] + p];
          cell = combine(fold, cell, from[i * size + j]);
        });
      }
    }
  });
}

void scatter_axis_sum_float64(const array& updates, const array& indices, array& out, int axis,
                              Stream s) {
  Line line(out, axis);
  size_t count = indices.shape(axis);
  get_command_encoder(s).dispatch(
      [=, from = updates.data<double>(), at = indices.data<int64_t>(), to = out.data<double>()] {
        int64_t length = static_cast<int64_t>(line.length);
        for (size_t k = 0; k < line.outer * count * line.inner; ++k) {
          int64_t index = at[k] < 0 ? at[k] + length : at[k];
          if (index >= 0 && index < length) {
            size_t outer = k / line.inner / count;
            to[(outer * line.length + index) * line.inner + k % line.inner] += from[k];
          }
        }
      });
}

}  // namespace mlx::core::cpu
