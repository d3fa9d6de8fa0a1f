// oneDNN's primitives for convolutions.
#include "mlx/backend/host/convolution_plan.h"

#include <mutex>
#include <string>

#include "mlx/bounded_cache.h"

namespace mlx::core::cpu {

namespace {

using dnnl::memory;
using Part = ConvolutionPart;
using Dims = memory::dims;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr size_t kMaxPlans = 512;

// oneDNN's description of a convolution.
struct Description {
  memory::desc input, weight, output;
  Dims strides, dilates, low, high;

  Description(Part part, const ConvolutionGeometry& g, Dtype dtype, const memory::desc* order) {
    const auto type = onednn_type(dtype);
    Dims in{g.images, int64_t{g.groups} * g.inputs}, out{g.images, int64_t{g.groups} * g.outputs};
    Dims kernel{g.outputs, g.inputs};
    if (g.groups > 1) kernel.insert(kernel.begin(), g.groups);
    for (const auto& axis : g.axes) {
      in.push_back(axis.input);
      out.push_back(axis.output);
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      dilates.push_back(axis.dilation - 1);
      low.push_back(axis.low);
      high.push_back(axis.high());
    }
    constexpr memory::format_tag kChannelsLast[] = {
        memory::format_tag::nwc, memory::format_tag::nhwc, memory::format_tag::ndhwc};
    const auto tag = kChannelsLast[g.axes.size() - 1];
    input = {in, type, tag};
    output = {out, type, tag};
    const auto sums = part == Part::Weight ? memory::data_type::f32 : type;
    weight = order ? *order : memory::desc(kernel, sums, memory::format_tag::any);
  }
};

template <typename Primitive>
ConvolutionPlan plan_of(const typename Primitive::primitive_desc& made, memory::desc input,
                        memory::desc weight, memory::desc output) {
  return {Primitive(made), std::move(input), std::move(weight), std::move(output),
          made.scratchpad_desc()};
}

dnnl::convolution_forward::primitive_desc forward(const Description& d, dnnl::prop_kind kind,
                                                  const memory::desc& weight) {
  return {{kind, kDirect, d.input, weight, d.output, d.strides, d.dilates, d.low, d.high},
          with_scratch_of_caller(),
          onednn_engine()};
}

// oneDNN derives a backward convolution from this one, whose own weights may be in any order.
dnnl::convolution_forward::primitive_desc hint(const Description& d) {
  const memory::desc any(d.weight.dims(), d.input.data_type(), memory::format_tag::any);
  return forward(d, dnnl::prop_kind::forward_training, any);
}

ConvolutionPlan make_plan(Part part, const Description& d) {
  switch (part) {
    case Part::Input: {
      using Backward = dnnl::convolution_backward_data;
      const Backward::primitive_desc made(
          {kDirect, d.input, d.weight, d.output, d.strides, d.dilates, d.low, d.high},
          with_scratch_of_caller(), onednn_engine(), hint(d));
      return plan_of<Backward>(made, made.diff_src_desc(), made.weights_desc(),
                               made.diff_dst_desc());
    }
    case Part::Weight: {
      using Backward = dnnl::convolution_backward_weights;
      const Backward::primitive_desc made(
          {kDirect, d.input, d.weight, d.output, d.strides, d.dilates, d.low, d.high},
          with_scratch_of_caller(), onednn_engine(), hint(d));
      return plan_of<Backward>(made, made.src_desc(), made.diff_weights_desc(),
                               made.diff_dst_desc());
    }
    case Part::Output:
      break;
  }
  const auto made = forward(d, dnnl::prop_kind::forward_inference, d.weight);
  return plan_of<dnnl::convolution_forward>(made, made.src_desc(), made.weights_desc(),
                                            made.dst_desc());
}

// Identifies a plan for which no order of weights is given.
std::string key_of(Part part, const ConvolutionGeometry& g, Dtype dtype) {
  std::vector<int> numbers{static_cast<int>(part),
                           static_cast<int>(dtype.val()),
                           g.images,
                           g.groups,
                           g.inputs,
                           g.outputs};
  for (const auto& axis : g.axes) {
    numbers.insert(numbers.end(),
                   {axis.input, axis.kernel, axis.output, axis.stride, axis.dilation, axis.low});
  }
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int)};
}

}  // namespace

void ConvolutionPlan::run(Part part, const void* input_data, const void* weight_data,
                          const void* output_data, void* scratch_data) const {
  const bool of_weight = part == Part::Weight;
  const bool of_input = part == Part::Input;
  execute(
      primitive,
      {{of_input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, onednn_memory(input, input_data)},
       {of_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, onednn_memory(weight, weight_data)},
       {of_weight || of_input ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST,
        onednn_memory(output, output_data)},
       {DNNL_ARG_SCRATCHPAD, onednn_memory(scratch, scratch_data)}});
}

std::shared_ptr<const ConvolutionPlan> plan_convolution(Part part,
                                                        const ConvolutionGeometry& geometry,
                                                        Dtype dtype, const memory::desc* weight) {
  const OnThisThread alone;
  auto make = [&](const memory::desc* order) {
    return std::make_shared<const ConvolutionPlan>(
        make_plan(part, Description(part, geometry, dtype, order)));
  };
  static std::mutex mutex;
  static auto* plans =
      new BoundedCache<std::string, std::shared_ptr<const ConvolutionPlan>>(kMaxPlans);
  std::shared_ptr<const ConvolutionPlan> plan;
  {
    std::lock_guard lock(mutex);
    plan = plans->get(key_of(part, geometry, dtype), [&] { return make(nullptr); });
  }
  return weight && plan->weight != *weight ? make(weight) : plan;
}

memory::desc row_major_weight(const ConvolutionGeometry& g, Dtype dtype) {
  Dims dims{g.outputs, g.inputs};
  memory::dim step = g.inputs;
  Dims steps;
  for (auto axis = g.axes.rbegin(); axis != g.axes.rend(); step *= axis->kernel, ++axis)
    steps.insert(steps.begin(), step);
  steps.insert(steps.begin(), {step, 1});
  for (const auto& axis : g.axes) dims.push_back(axis.kernel);
  if (g.groups > 1) {
    dims.insert(dims.begin(), g.groups);
    steps.insert(steps.begin(), step * g.outputs);
  }
  return {dims, onednn_type(dtype), steps};
}

}  // namespace mlx::core::cpu
