// Discrete Fourier transforms.
#include "mlx/fft.h"

#include <cmath>
#include <numeric>
#include <set>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/fft.h"

namespace mlx::core::fft {

namespace {

// Pads the axis with zeros at the end, or cuts it.
array resized(const array& a, int axis, int length, const Stream& s) {
  const int present = a.shape(axis);
  if (length > present) return pad(a, {axis}, {0}, {length - present}, scalar(0, a), "constant", s);
  if (length == present) return a;
  Shape stop = a.shape();
  stop[axis] = length;
  return slice(a, Shape(a.ndim(), 0), stop, s);
}

// The checked arguments of a transform: its axes, and the length of each (on the real side).
struct Plan {
  std::vector<int> axes;
  Shape lengths;

  Plan(const array& a, const OptionalShape& n, const OptionalAxes& given, FFTKind kind,
       const char* op) {
    set_axes(a, n, given, op);
    for (size_t i = 0; i < axes.size(); ++i) {
      lengths.push_back(n ? (*n)[i] : a.shape(axes[i]));
      if (!n && kind == FFTKind::ComplexToReal && i + 1 == axes.size())
        lengths.back() = 2 * (lengths.back() - 1);
      if (lengths[i] <= 0) {
        invalid_argument(
            op, message("Transforms need at least 1 element, not ", lengths[i], ", along axis ",
                        axes[i], " of an array of shape ", a.shape(), "."));
      }
    }
  }

  double elements() const {
    return std::accumulate(lengths.begin(), lengths.end(), 1.0, std::multiplies<>());
  }

 private:
  void set_axes(const array& a, const OptionalShape& n, const OptionalAxes& given, const char* op) {
    if (given) {
      for (int axis : *given) axes.push_back(normalize_axis_index(axis, rank(a), op));
    } else if (n) {
      invalid_argument(op, "Lengths (s) say nothing without the axes that have them.");
    } else {
      axes = all_axes(a);
    }
    if (std::set<int>(axes.begin(), axes.end()).size() != axes.size())
      invalid_argument(op, "An axis was given twice.");
    if (n && n->size() != axes.size()) {
      invalid_argument(op, message("As many lengths as axes are needed, not ", n->size(), " and ",
                                   axes.size(), "."));
    }
  }
};

// The factor of the sums.
double scale_of(const Plan& plan, bool inverse, FFTNorm norm) {
  if (norm == FFTNorm::Ortho) return 1 / std::sqrt(plan.elements());
  return inverse == (norm == FFTNorm::Backward) ? 1 / plan.elements() : 1.0;
}

array complex_transform(array a, const std::vector<int>& axes, bool inverse, double scale,
                        const Stream& s) {
  Shape shape = a.shape();
  auto primitive = std::make_shared<FFT>(s, FFTKind::Complex, axes, inverse, 0, scale);
  return array(std::move(shape), complex64, std::move(primitive), {std::move(a)});
}

array one_real_transform(const array& a, FFTKind kind, int axis, int length, double scale,
                         const Stream& s) {
  const bool inverse = kind == FFTKind::ComplexToReal;
  auto primitive = std::make_shared<FFT>(s, kind, std::vector<int>{axis}, inverse, length, scale);
  return array(primitive->output_shapes({a})[0], inverse ? float32 : complex64, primitive, {a});
}

array transform(const array& a, const OptionalShape& n, const OptionalAxes& given, bool inverse,
                FFTNorm norm, const char* op, StreamOrDevice to) {
  const Stream s = to_stream(to);
  const Plan plan(a, n, given, FFTKind::Complex, op);
  if (plan.axes.empty()) return a;
  array x = astype(a, complex64, s);
  for (size_t i = 0; i < plan.axes.size(); ++i) x = resized(x, plan.axes[i], plan.lengths[i], s);
  return complex_transform(x, plan.axes, inverse, scale_of(plan, inverse, norm), s);
}

}  // namespace

array fftn(const array& a, const OptionalShape& n, const OptionalAxes& axes, FFTNorm norm,
           StreamOrDevice s) {
  return transform(a, n, axes, false, norm, "fftn", s);
}

array ifftn(const array& a, const OptionalShape& n, const OptionalAxes& axes, FFTNorm norm,
            StreamOrDevice s) {
  return transform(a, n, axes, true, norm, "ifftn", s);
}

// Transforms real numbers along the last axis, and the results along the others. Only the real
// parts of complex numbers are transformed.
array rfftn(const array& a, const OptionalShape& n, const OptionalAxes& given, FFTNorm norm,
            StreamOrDevice to) {
  const Stream s = to_stream(to);
  const Plan plan(a, n, given, FFTKind::RealToComplex, "rfftn");
  if (plan.axes.empty()) return a;
  array x = astype(a, float32, s);
  for (size_t i = 0; i < plan.axes.size(); ++i) x = resized(x, plan.axes[i], plan.lengths[i], s);
  array half = one_real_transform(x, FFTKind::RealToComplex, plan.axes.back(), plan.lengths.back(),
                                  scale_of(plan, false, norm), s);
  if (plan.axes.size() == 1) return half;
  return complex_transform(half, {plan.axes.begin(), plan.axes.end() - 1}, false, 1.0, s);
}

array irfftn(const array& a, const OptionalShape& n, const OptionalAxes& given, FFTNorm norm,
             StreamOrDevice to) {
  const Stream s = to_stream(to);
  const Plan plan(a, n, given, FFTKind::ComplexToReal, "irfftn");
  if (plan.axes.empty()) return a;
  array x = astype(a, complex64, s);
  for (size_t i = 0; i + 1 < plan.axes.size(); ++i)
    x = resized(x, plan.axes[i], plan.lengths[i], s);
  x = resized(x, plan.axes.back(), plan.lengths.back() / 2 + 1, s);
  if (plan.axes.size() > 1)
    x = complex_transform(x, {plan.axes.begin(), plan.axes.end() - 1}, true, 1.0, s);
  return one_real_transform(x, FFTKind::ComplexToReal, plan.axes.back(), plan.lengths.back(),
                            scale_of(plan, true, norm), s);
}

namespace {

array shifted(const array& a, const OptionalAxes& given, int sign, const char* op,
              StreamOrDevice s) {
  const auto axes = given ? *given : all_axes(a);
  Shape shifts;
  for (int axis : axes)
    shifts.push_back(sign * (a.shape(normalize_axis_index(axis, rank(a), op)) / 2));
  return roll(a, shifts, axes, s);
}

void check_samples(int n, double distance, const char* op) {
  if (n <= 0)
    invalid_argument(op, message("The number of elements must be positive, not ", n, "."));
  if (distance == 0) invalid_argument(op, "The distance between samples (d) must not be 0.");
}

}  // namespace

array fftshift(const array& a, const OptionalAxes& axes, StreamOrDevice s) {
  return shifted(a, axes, 1, "fftshift", s);
}

array ifftshift(const array& a, const OptionalAxes& axes, StreamOrDevice s) {
  return shifted(a, axes, -1, "ifftshift", s);
}

array fftfreq(int n, double d, StreamOrDevice s) {
  check_samples(n, d, "fftfreq");
  array numbers = concatenate({arange(0, (n + 1) / 2, 1, s), arange(-(n / 2), 0, 1, s)}, 0, s);
  return multiply(astype(numbers, float32, s), array(static_cast<float>(1 / (d * n))), s);
}

array rfftfreq(int n, double d, StreamOrDevice s) {
  check_samples(n, d, "rfftfreq");
  return multiply(astype(arange(0, n / 2 + 1, 1, s), float32, s),
                  array(static_cast<float>(1 / (d * n))), s);
}

}  // namespace mlx::core::fft
