// Fourier transforms on a device that has memory of its own.
#include "mlx/backend/metal/ops/fft.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "metal/fourier_transform.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/views_in_eval.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/library.h"

namespace mlx::core {

namespace {

using ::metal::FourierTransform;
using ::metal::TransformKind;
using TransformPlan = std::shared_ptr<const ::metal::FourierTransformPlan>;

constexpr size_t kMostAxes = 3;  // of a library's transform
// Beyond so many calls for interleaved transforms, copies are better.
constexpr int64_t kMostCalls = 32;

TransformPlan plan_of(const FourierTransform& transform, Stream s) {
  std::vector<int64_t> numbers{static_cast<int64_t>(transform.kind), transform.batch,
                               transform.stride};
  numbers.insert(numbers.end(), transform.lengths.begin(), transform.lengths.end());
  return library_plan<::metal::FourierTransformPlan>(transform, numbers, s);
}

TransformKind transform_kind(const Transform& t) {
  switch (t.kind) {
    case FFTKind::RealToComplex:
      return TransformKind::RealToComplex;
    case FFTKind::ComplexToReal:
      return TransformKind::ComplexToReal;
    case FFTKind::Complex:
      break;
  }
  return t.inverse ? TransformKind::ComplexInverse : TransformKind::ComplexForward;
}

// All axes of an array, those that are transformed last; the others keep their order.
std::vector<int> with_last(std::vector<int> last, int ndim) {
  std::sort(last.begin(), last.end());
  std::vector<int> order;
  for (int axis = 0; axis < ndim; ++axis) {
    if (!std::binary_search(last.begin(), last.end(), axis)) order.push_back(axis);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

std::vector<int> inverse_of(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return inverse;
}

// `in_offset` and `out_offset` count bytes.
void add_call(const TransformPlan& plan, const array& in, int64_t in_offset, array& out,
              int64_t out_offset, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  const std::vector<MTL::LibraryBuffer> buffers{encoder.library_input(in, in_offset),
                                                encoder.library_output(out, out_offset),
                                                library_workspace(plan->workspace_bytes(), s)};
  auto start = [plan](void* queue, void* const* addresses) { plan->start(queue, addresses); };
  encoder.add_library_call({"fft", std::move(start)}, buffers);
}

// Multiplies floats, or the parts of complex numbers, in place.
void scale_in_place(array& a, float factor, Stream s) {
  if (factor == 1.0f) return;
  static KernelTable table(1);
  auto* kernel = table.get(0, [] { return kernel_name("Multiply", "vs", type_name(float32)); });
  auto& encoder = metal::get_command_encoder(s);
  dispatch_line(encoder, a.nbytes() / sizeof(float), [&](int64_t first) {
    const auto offset = first * static_cast<int64_t>(sizeof(float));
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_input_array(a, 0, offset);
    encoder.set_bytes(factor, 1);
    encoder.set_output_array(a, 2, offset);
  });
}

// The lengths of a transform along the last axes; `real_side` is the side with all elements.
FourierTransform along_last(const Transform& t, const array& real_side) {
  FourierTransform made{.kind = transform_kind(t), .lengths = {}, .batch = 1, .stride = 1};
  const auto others = real_side.ndim() - t.axes.size();
  for (size_t axis = 0; axis < real_side.ndim(); ++axis) {
    const int64_t length = real_side.shape(static_cast<int>(axis));
    axis < others ? void(made.batch *= length) : made.lengths.push_back(length);
  }
  return made;
}

bool repeats_an_axis(std::vector<int> axes) {
  std::sort(axes.begin(), axes.end());
  return std::adjacent_find(axes.begin(), axes.end()) != axes.end();
}

// The library may destroy the input of a transform to real numbers.
array operand_of(const Transform& t, const array& in, Stream s) {
  return t.kind == FFTKind::ComplexToReal ? contiguous_copy(in, s) : library_operand(in, s);
}

const array& real_side_of(const Transform& t, const array& in, const array& out) {
  return t.kind == FFTKind::ComplexToReal ? out : in;
}

// Transforms along one axis that is not the last, without copies that move the axis. Returns false,
// and has done nothing, if that takes too many calls, or a library does not do so.
bool transform_interleaved(const Transform& t, const array& in, array& out, Stream s) {
  constexpr int64_t kAlignment = 16;
  const int axis = t.axes[0];
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= out.shape(i);
  for (int i = axis + 1; i < static_cast<int>(out.ndim()); ++i) inner *= out.shape(i);
  if (t.axes.size() != 1 || inner == 1 || outer > kMostCalls) return false;
  const int64_t in_step = static_cast<int64_t>(in.nbytes()) / outer;
  const int64_t out_step = static_cast<int64_t>(out.nbytes()) / outer;
  if (outer > 1 && (in_step | out_step) % kAlignment != 0) return false;
  const TransformPlan plan = plan_of({.kind = transform_kind(t),
                                      .lengths = {real_side_of(t, in, out).shape(axis)},
                                      .batch = inner,
                                      .stride = inner},
                                     s);
  if (!plan) return false;
  const array source = operand_of(t, in, s);
  for (int64_t i = 0; i < outer; ++i) add_call(plan, source, i * in_step, out, i * out_step, s);
  scale_in_place(out, t.scale, s);
  return true;
}

}  // namespace

bool transform_on_device(const Transform& t, const array& in, array& out, Stream s) {
  if (!runs_on_gpu(s) || t.axes.empty() || t.axes.size() > kMostAxes || repeats_an_axis(t.axes))
    return false;
  if (transform_interleaved(t, in, out, s)) return true;
  const std::vector<int> order = with_last(t.axes, static_cast<int>(in.ndim()));
  const array source = transpose_in_eval(in, order), target = transpose_in_eval(out, order);
  const TransformPlan plan = plan_of(along_last(t, real_side_of(t, source, target)), s);
  if (!plan) return false;
  const array rows = operand_of(t, source, s);
  if (std::is_sorted(order.begin(), order.end())) {
    add_call(plan, rows, 0, out, 0, s);
    scale_in_place(out, t.scale, s);
    return true;
  }
  array transformed = temporary(target.shape(), target.dtype(), s);
  add_call(plan, rows, 0, transformed, 0, s);
  scale_in_place(transformed, t.scale, s);
  copy_inplace(transpose_in_eval(transformed, inverse_of(order)), out, CopyType::General, s);
  return true;
}

}  // namespace mlx::core
