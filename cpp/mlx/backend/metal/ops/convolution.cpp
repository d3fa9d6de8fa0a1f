// Convolutions on a device that has memory of its own: with a library, or as products of matrices,
// some images at a time. Groups of few channels are then computed directly.
#include "mlx/backend/metal/ops/convolution.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metal/convolution.h"
#include "metal/driver.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/convolution.h"
#include "mlx/backend/metal/kernels/convolution_params.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/library.h"
#include "mlx/backend/metal/ops/matmul.h"

namespace mlx::core {

namespace {

using Part = ConvolutionPart;

constexpr size_t kMostBytes = size_t(512) << 20;  // of the copies, unless one image needs more
constexpr int kFewChannels = 256;                 // pairs of channels in a group

// ---- with a library ----

::metal::ConvolutionResult library_result(Part part) {
  switch (part) {
    case Part::Input:
      return ::metal::ConvolutionResult::Input;
    case Part::Weight:
      return ::metal::ConvolutionResult::Weight;
    case Part::Output:
      break;
  }
  return ::metal::ConvolutionResult::Output;
}

::metal::Convolution library_convolution(Part part, const cpu::ConvolutionGeometry& g,
                                         Dtype dtype) {
  ::metal::Convolution made{.result = library_result(part),
                            .type = library_type(dtype),
                            .images = g.images,
                            .groups = g.groups,
                            .inputs = g.inputs,
                            .outputs = g.outputs,
                            .axes = {}};
  if (g.axes.size() == 1) made.axes.push_back({});  // libraries take two or three axes
  for (const auto& a : g.axes)
    made.axes.push_back({a.input, a.kernel, a.output, a.stride, a.dilation, a.low});
  return made;
}

// Whether the output has just as many elements as equal padding at both ends gives.
bool is_padded_equally(const cpu::ConvolutionGeometry& g) {
  return std::all_of(g.axes.begin(), g.axes.end(), [](const auto& a) {
    const int room = a.input + 2 * a.low - a.reach() - 1;
    return room >= 0 && room / a.stride + 1 == a.output;
  });
}

std::shared_ptr<const ::metal::ConvolutionPlan> plan_of(const ::metal::Convolution& c, Stream s) {
  std::vector<int64_t> numbers{static_cast<int64_t>(c.result),
                               static_cast<int64_t>(c.type),
                               c.images,
                               c.groups,
                               c.inputs,
                               c.outputs};
  for (const auto& a : c.axes) {
    for (int number : {a.input, a.weight, a.output, a.stride, a.dilation, a.padding})
      numbers.push_back(number);
  }
  return library_plan<::metal::ConvolutionPlan>(c, numbers, s);
}

// The arrays of a convolution; one is the result.
struct Operands {
  array input, weight, output;
};

// Returns false, and has done nothing, if no library computes this.
bool convolve_with_library(Part part, const cpu::ConvolutionGeometry& geometry,
                           const Operands& arrays, Stream s) {
  if (!is_padded_equally(geometry)) return false;
  const auto plan = plan_of(library_convolution(part, geometry, arrays.input.dtype()), s);
  if (!plan) return false;
  auto& encoder = metal::get_command_encoder(s);
  const auto buffer = [&](const array& a, Part own) {
    return own == part ? encoder.library_output(a) : encoder.library_input(library_operand(a, s));
  };
  const std::vector<MTL::LibraryBuffer> buffers{
      buffer(arrays.input, Part::Input), buffer(arrays.weight, Part::Weight),
      buffer(arrays.output, Part::Output), library_workspace(plan->workspace_bytes(), s)};
  auto start = [plan](void* queue, void* const* addresses) { plan->start(queue, addresses); };
  encoder.add_library_call({"conv", std::move(start)}, buffers);
  return true;
}

// ---- with kernels ----

enum class Kernel { Convolve, Depthwise, Fold };
constexpr const char* kKernels[] = {"Convolve", "Depthwise", "Fold"};

MTL::ComputePipelineState* convolution_kernel(Kernel kernel, Dtype dtype) {
  static KernelTable table(3 * kDtypes);
  const int number = static_cast<int>(kernel);
  return table.get(number * kDtypes + dtype_index(dtype),
                   [&] { return kernel_name(kKernels[number], type_name(dtype)); });
}

MTL::ComputePipelineState* unfold_kernel(size_t bytes) {
  static KernelTable table(5);
  return table.get(static_cast<size_t>(std::bit_width(bytes)) - 1,
                   [&] { return kernel_name("Unfold", std::to_string(bytes)); });
}

ConvolutionAxisParams axis_params(const cpu::ConvolutionAxis& a, bool transposed) {
  if (transposed) return {a.input, a.kernel, a.output, 1, -a.dilation, a.low, a.stride};
  return {a.output, a.kernel, a.input, a.stride, a.dilation, -a.low, 1};
}

// `transposed`: the result is the input, the source the output.
ConvolutionParams convolution_params(const cpu::ConvolutionGeometry& g, bool transposed) {
  ConvolutionParams p{};
  std::fill(std::begin(p.axes), std::end(p.axes), ConvolutionAxisParams{1, 1, 1, 1, 1, 0, 1});
  p.elements = 1;
  for (size_t i = 0; i < g.axes.size(); ++i) {
    p.axes[kSpatialAxes - g.axes.size() + i] = axis_params(g.axes[i], transposed);
    p.elements *= g.axes[i].kernel;
  }
  p.groups = g.groups;
  p.sources = transposed ? g.outputs : g.inputs;
  p.results = transposed ? g.inputs : g.outputs;
  // The weight is (groups, outputs, elements, inputs).
  const int64_t output_step = int64_t{p.elements} * g.inputs;
  p.group_step = output_step * g.outputs;
  p.element_step = g.inputs;
  p.result_step = transposed ? 1 : output_step;
  p.source_step = transposed ? output_step : 1;
  return p;
}

array view_of(const array& a, Shape shape, const Strides& strides, int64_t offset = 0) {
  array view(std::move(shape), a.dtype(), nullptr, {});
  make_view(a, view, strides, offset);
  return view;
}

class DeviceConvolution {
 public:
  DeviceConvolution(const cpu::ConvolutionGeometry& geometry, bool transposed, Dtype dtype,
                    Stream s)
      : params_(convolution_params(geometry, transposed)), images_(geometry.images), s_(s) {
    for (const auto& axis : params_.axes) {
      pixels_ *= axis.result;
      source_pixels_ *= axis.source;
    }
    images_at_once_ = meets_itself() ? images_ : images_of_copies(dtype);
  }

  bool takes_several_steps() const { return images_at_once_ < images_; }
  bool has_few_channels() const {
    return params_.groups > 1 && params_.sources * params_.results < kFewChannels;
  }

  // Whether libraries are slower than the kernels: they know of no product without copies, nor of
  // channels that are apart.
  bool is_fast(Part part) const {
    const bool is_product = params_.groups == 1 && meets_itself();
    return is_product || (part != Part::Weight && is_depthwise());
  }

  // The result, one thread for each element. Neighbouring threads read neighbouring weights.
  void compute_directly(const array& source, const array& weight, array& out) const {
    ConvolutionParams p = params_;
    const int groups = p.groups, results = p.results, sources = p.sources;
    const Shape shape{static_cast<int>(p.elements), sources, groups, results};
    array ordered = temporary(shape, weight.dtype(), s_);
    copy_inplace(weight, ordered, shape,
                 {p.element_step, p.source_step, p.group_step, p.result_step}, ordered.strides(), 0,
                 0, CopyType::General, s_);
    p.element_step = ordered.strides(0);
    p.source_step = ordered.strides(1);
    p.group_step = ordered.strides(2);
    p.result_step = ordered.strides(3);
    const bool depthwise = is_depthwise() && groups % kDepthwise == 0;
    const array from = depthwise ? library_operand(source, s_) : source;
    auto& encoder = metal::get_command_encoder(s_);
    encoder.set_compute_pipeline_state(
        convolution_kernel(depthwise ? Kernel::Depthwise : Kernel::Convolve, out.dtype()));
    encoder.set_input_array(from, 0);
    encoder.set_input_array(ordered, 1);
    encoder.set_output_array(out, 2);
    encoder.set_bytes(p, 3);
    const size_t width = size_t{p.groups} * p.results;
    dispatch_grid(encoder, depthwise ? width / kDepthwise : width, size_t(images_) * pixels_);
  }

  // Whether the source's products with all weights, as float32, take less memory than what the
  // weights of the result meet. So it is for the cotangents of strides or of few channels.
  bool folds(Dtype dtype) const {
    const double met = double(pixels_) * params_.sources * static_cast<double>(dtype.size());
    const double given = double(source_pixels_) * params_.results * sizeof(float);
    return params_.elements > 1 && 2 * given < met;
  }

  // The result: for each group, the source times the weights, of which each element of the result
  // adds up those that it meets. source and weight: float32.
  void compute_folded(const array& source, const array& weight, array& out) const {
    const auto& p = params_;
    const int groups = p.groups, sources = p.sources;
    const int width = static_cast<int>(p.elements * p.results);
    // The weight's distances between elements and results are those of one dimension.
    const array factors =
        view_of(weight, {groups, sources, width}, {p.group_step, p.source_step, 1});
    for (int first = 0; first < images_; first += images_at_once_) {
      const int images = std::min(images_at_once_, images_ - first);
      const int rows = images * source_pixels_;
      const int64_t row = int64_t{groups} * sources;
      const array from = view_of(source, {groups, rows, sources}, {sources, row, 1},
                                 int64_t{first} * source_pixels_ * row);
      array given = temporary({groups, rows, width}, float32, s_);
      multiply_on_device(from, factors, given, 1.0, 0.0, s_);
      fold(given, rows, first, images, out);
    }
  }

  // The result: for each group, what the weights meet times the weights.
  void compute_result(const array& source, const array& weight, array& out) const {
    const array factors = weight_matrices(weight);
    for_each_step([&](int first, int rows) {
      const array met = unfolded(source, first, rows);
      const int groups = params_.groups, results = params_.results;
      const int64_t offset = int64_t{first} * pixels_ * groups * results;
      if (groups == 1) {
        array part = view_of(out, {1, rows, results}, {0, results, 1}, offset);
        return multiply_on_device(met, factors, part, 1.0, 0.0, s_);
      }
      array part = temporary({groups, rows, results}, out.dtype(), s_);
      multiply_on_device(met, factors, part, 1.0, 0.0, s_);
      copy_inplace(part, out, {rows, groups, results}, {results, int64_t{rows} * results, 1},
                   {int64_t{groups} * results, results, 1}, 0, offset, CopyType::GeneralGeneral,
                   s_);
    });
  }

  // The weight: for each group, the output, transposed, times what the weights meet.
  void compute_weight(const array& input, const array& output, array& out) const {
    const int groups = params_.groups, outputs = params_.results;
    array sum =
        view_of(out, {groups, outputs, columns()}, {int64_t{outputs} * columns(), columns(), 1});
    for_each_step([&](int first, int rows) {
      const int64_t row = int64_t{groups} * outputs;
      const array factors = view_of(output, {groups, outputs, rows}, {outputs, 1, row},
                                    int64_t{first} * pixels_ * row);
      multiply_on_device(factors, unfolded(input, first, rows), sum, 1.0, first == 0 ? 0.0 : 1.0,
                         s_);
    });
  }

 private:
  // Whether each group has one channel of either side.
  bool is_depthwise() const { return params_.sources == 1 && params_.results == 1; }

  void fold(const array& given, int rows, int first, int images, array& out) const {
    const size_t width = size_t{params_.groups} * params_.results;
    const size_t offset = size_t(first) * pixels_ * width * out.itemsize();
    auto& encoder = metal::get_command_encoder(s_);
    encoder.set_compute_pipeline_state(convolution_kernel(Kernel::Fold, out.dtype()));
    encoder.set_input_array(given, 0);
    encoder.set_output_array(out, 1, static_cast<int64_t>(offset));
    encoder.set_bytes(params_, 2);
    encoder.set_bytes(static_cast<uint32_t>(rows), 3);
    dispatch_grid(encoder, width, size_t(images) * pixels_);
  }

  int images_of_copies(Dtype dtype) const {
    const size_t bytes = size_t(pixels_) * columns() * params_.groups * dtype.size();
    return static_cast<int>(
        std::clamp<size_t>(kMostBytes / bytes, 1, static_cast<size_t>(images_)));
  }

  int columns() const { return static_cast<int>(params_.elements * params_.sources); }

  // Calls step(first image, pixels of the result).
  template <typename Step>
  void for_each_step(Step&& step) const {
    for (int first = 0; first < images_; first += images_at_once_)
      step(first, std::min(images_at_once_, images_ - first) * pixels_);
  }

  // Whether each pixel of the result meets just the same one of the source.
  bool meets_itself() const {
    return std::all_of(std::begin(params_.axes), std::end(params_.axes), [](const auto& axis) {
      return axis.weight == 1 && axis.result == axis.source && axis.step == 1 && axis.first == 0 &&
             axis.divisor == 1;
    });
  }

  // What the weights meet: (groups, rows, elements of the weight and sources).
  array unfolded(const array& source, int first, int rows) const {
    const int groups = params_.groups, sources = params_.sources;
    const int64_t offset = int64_t{first} * source_pixels_ * groups * sources;
    const Shape shape{groups, rows, columns()};
    if (meets_itself())
      return view_of(source, shape, {sources, int64_t{groups} * sources, 1}, offset);
    array out = temporary(shape, source.dtype(), s_);
    auto& encoder = metal::get_command_encoder(s_);
    const auto item = static_cast<int64_t>(source.itemsize()), start = offset * item;
    constexpr int64_t kWidest = 16;
    const bool wide = (sources * item | (source.offset() + start)) % kWidest == 0;
    const int64_t unit = wide ? kWidest / item : 1;  // elements that are copied at once
    ConvolutionParams params = params_;
    params.sources /= static_cast<uint32_t>(unit);
    encoder.set_compute_pipeline_state(unfold_kernel(static_cast<size_t>(unit * item)));
    encoder.set_input_array(source, 0, start);
    encoder.set_output_array(out, 1);
    encoder.set_bytes(params, 2);
    dispatch_grid(encoder, static_cast<size_t>(columns() / unit), rows, groups);
    return out;
  }

  // (groups, elements of the weight and sources, results).
  array weight_matrices(const array& weight) const {
    const auto& p = params_;
    const int groups = p.groups, results = p.results;
    const Shape shape{groups, columns(), results};
    if (p.elements == 1 || p.source_step == 1)
      return view_of(weight, shape, {p.group_step, p.source_step, p.result_step});
    array ordered = temporary(shape, weight.dtype(), s_);
    const Shape parts{groups, static_cast<int>(p.elements), static_cast<int>(p.sources), results};
    copy_inplace(weight, ordered, parts, {p.group_step, p.element_step, p.source_step, 1},
                 make_contiguous_strides(parts), 0, 0, CopyType::General, s_);
    return ordered;
  }

  ConvolutionParams params_;
  int images_;
  int images_at_once_ = 1;
  int pixels_ = 1, source_pixels_ = 1;
  Stream s_;
};

// Steps add to what those before them have rounded, hence the sum in float32.
void add_up_weight(const ConvolutionWindow& window, const Operands& arrays, array& out, Stream s) {
  array sum = temporary(out.shape(), float32, s);
  convolve_on_device(Part::Weight, window, converted(arrays.input, float32, s),
                     converted(arrays.output, float32, s), sum, s);
  copy_inplace(sum, out, CopyType::Vector, s);
}

void convolve_with_kernels(Part part, const ConvolutionWindow& window,
                           const DeviceConvolution& convolution, const Operands& arrays, array& out,
                           Stream s) {
  if (part == Part::Weight) {
    if (out.dtype() != float32 && convolution.takes_several_steps())
      return add_up_weight(window, arrays, out, s);
    return convolution.compute_weight(arrays.input, arrays.output, out);
  }
  const array& source = part == Part::Input ? arrays.output : arrays.input;
  if (convolution.has_few_channels())
    return convolution.compute_directly(source, arrays.weight, out);
  if (part == Part::Input && convolution.folds(out.dtype())) {
    return convolution.compute_folded(converted(source, float32, s),
                                      converted(arrays.weight, float32, s), out);
  }
  convolution.compute_result(source, arrays.weight, out);
}

}  // namespace

bool convolves_on_device(Dtype dtype, size_t spatial_axes, Stream s) {
  return runs_on_gpu(s) && dtype != float64 && spatial_axes <= kSpatialAxes;
}

void convolve_on_device(Part part, const ConvolutionWindow& window, const array& first,
                        const array& second, array& out, Stream s) {
  const Operands arrays = part == Part::Input    ? Operands{out, first, second}
                          : part == Part::Weight ? Operands{first, out, second}
                                                 : Operands{first, second, out};
  const cpu::ConvolutionGeometry geometry(arrays.input.shape(), arrays.weight.shape(),
                                          arrays.output.shape(), window);
  const DeviceConvolution convolution(geometry, part == Part::Input, out.dtype(), s);
  if (!convolution.is_fast(part) && convolve_with_library(part, geometry, arrays, s)) return;
  convolve_with_kernels(part, window, convolution, arrays, out, s);
}

}  // namespace mlx::core
