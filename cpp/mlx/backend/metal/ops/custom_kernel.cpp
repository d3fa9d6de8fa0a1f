// Evaluates CustomKernel, a kernel that the user wrote: pipeline, buffers, launch.
#include "mlx/fast/metal_kernel/custom_kernel.h"

#include <Metal/Metal.hpp>
#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "metal/compiler/compiler.h"
#include "metal/host/library.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/build_pipeline.h"
#include "mlx/backend/metal/checks.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/bounded_cache.h"
#include "mlx/fast/metal_kernel/apple_check.h"

namespace mlx::core::fast {

namespace {

namespace api = ::metal;

MTL::MathMode mtl_math_mode(KernelMathMode mode) {
  switch (mode) {
    case KernelMathMode::Safe:
      return MTL::MathModeSafe;
    case KernelMathMode::Relaxed:
      return MTL::MathModeRelaxed;
    case KernelMathMode::Fast:
      return MTL::MathModeFast;
  }
  return MTL::MathModeSafe;
}

[[noreturn]] void throw_compile_error(const std::string& kernel, const std::string& diagnostics) {
  throw std::runtime_error("[metal_kernel] The kernel \"" + kernel + "\" does not compile:\n" +
                           diagnostics);
}

NS::SharedPtr<MTL::ComputePipelineState> build(const KernelVariant& variant, MTL::Device* device) {
  try {
    return build_pipeline(
        {variant.source, variant.function, variant.name, mtl_math_mode(variant.math_mode)}, device);
  } catch (const PipelineError& error) {
    std::string text = error.what();
    if (text.empty()) {
      throw std::runtime_error("[metal_kernel] The source of the kernel \"" + variant.name +
                               "\" does not define the function " + variant.function + ".");
    }
    if (variant.scope) text += hints_for(text, *variant.scope);
    throw_compile_error(variant.name, text);
  }
}

constexpr size_t kMaxPipelines = 256;

// Pipelines by everything that they depend on, since kernels are often created anew for every call.
// A pipeline that the cache drops lives as long as a variant or a command buffer holds it.
class PipelineCache {
 public:
  NS::SharedPtr<MTL::ComputePipelineState> get(const KernelVariant& variant, MTL::Device* device) {
    const auto entry = find(variant, device);
    std::lock_guard lock(entry->mutex);  // others may compile other kernels meanwhile
    if (!entry->pipeline) entry->pipeline = build(variant, device);
    return entry->pipeline;
  }

 private:
  struct Entry {
    std::mutex mutex;
    NS::SharedPtr<MTL::ComputePipelineState> pipeline;
  };

  std::shared_ptr<Entry> find(const KernelVariant& variant, MTL::Device* device) {
    std::string key = variant.function;
    key += static_cast<char>(variant.math_mode);
    key.append(reinterpret_cast<const char*>(&device), sizeof(MTL::Device*)).append(variant.source);
    std::lock_guard lock(mutex_);
    return entries_.get(std::move(key), [] { return std::make_shared<Entry>(); });
  }

  std::mutex mutex_;
  BoundedCache<std::string, std::shared_ptr<Entry>> entries_{kMaxPipelines};
};

MTL::ComputePipelineState* pipeline_of(const KernelVariant& variant, const Device& where,
                                       MTL::Device* device) {
  auto& slot = variant.pipelines[where.type == Device::gpu];
  MTL::ComputePipelineState* pipeline = slot.load(std::memory_order_acquire);
  if (!pipeline) {
    // Never destroyed: kernels may run until the process ends.
    static auto& cache = *new PipelineCache;
    const auto found = cache.get(variant, device);
    if (slot.compare_exchange_strong(pipeline, found.get())) pipeline = found->retain();
  }
  return pipeline;
}

std::shared_ptr<api::Program> compile(const std::string& source, KernelMathMode math_mode,
                                      bool for_apple = false) {
  api::CompileOptions options;
  options.math_mode = static_cast<api::MathMode>(math_mode);
  options.for_apple = for_apple;
  return api::compile(source, options);
}

constexpr size_t kMaxSourceReports = 256;

// What the check "apple" finds in sources, since kernels are often created anew for every call.
class SourceReports {
 public:
  std::vector<api::CheckReport> get(const KernelVariant& variant) {
    std::lock_guard lock(mutex_);
    return entries_.get(variant.source, [&] {
      return compile(variant.source, variant.math_mode, /*for_apple=*/true)->apple_reports;
    });
  }

 private:
  std::mutex mutex_;
  BoundedCache<std::string, std::vector<api::CheckReport>> entries_{kMaxSourceReports};
};

array init_array(const InitValue& value, Dtype dtype) {
  if (auto* whole = std::get_if<int64_t>(&value)) return array(*whole, dtype);
  double number = std::get<double>(value);
  if (!issubdtype(dtype, integer)) return array(number, dtype);
  // Numbers outside the type's range are clamped, as Metal converts them.
  if (!(number == number)) return array(0, dtype);
  iinfo limits(dtype);
  if (number >= static_cast<double>(limits.max)) return array(limits.max, dtype);
  if (number <= static_cast<double>(limits.min)) return array(limits.min, dtype);
  return array(number, dtype);
}

bool has_initial_value(const KernelLaunch& launch, size_t output) {
  return launch.init_value ||
         (!launch.initial_inputs.empty() && launch.initial_inputs[output] >= 0);
}

void prepare_output(const KernelLaunch& launch, const std::vector<array>& inputs, size_t i,
                    array& out, Stream stream) {
  int initial = launch.initial_inputs.empty() ? -1 : launch.initial_inputs[i];
  if (initial >= 0) {
    const array& from = inputs[initial];
    copy(from, out, from.flags().row_contiguous ? CopyType::Vector : CopyType::General, stream);
  } else if (launch.init_value && out.size() > 0) {
    copy(init_array(*launch.init_value, out.dtype()), out, CopyType::Scalar, stream);
  } else {
    allocate_output(out);
  }
}

void bind(metal::CommandEncoder& encoder, const Slot& slot, const std::vector<array>& inputs,
          std::vector<array>& outputs) {
  switch (slot.kind) {
    case Slot::Kind::Input:
      return encoder.set_input_array(inputs[slot.array], slot.buffer);
    case Slot::Kind::InputShape:
      return encoder.set_vector_bytes(inputs[slot.array].shape(), slot.buffer);
    case Slot::Kind::InputStrides:
      return encoder.set_vector_bytes(inputs[slot.array].strides(), slot.buffer);
    case Slot::Kind::InputNdim:
      return encoder.set_bytes(static_cast<int>(inputs[slot.array].ndim()), slot.buffer);
    case Slot::Kind::Output:
      return encoder.set_output_array(outputs[slot.array], slot.buffer);
  }
}

// An axis that continues the contiguous memory of the last axes, although other axes lie between:
// threads that are neighbours along it read adjacent memory.
struct DistantNeighbours {
  size_t apart;   // the distance of such neighbours in the grid
  size_t places;  // the length of the axis
  size_t bytes;   // the stride of the axis
};

std::optional<DistantNeighbours> find_distant_neighbours(const array& a) {
  int64_t run = 1;
  size_t apart = 1;
  bool in_order = true;  // whether the axes so far are contiguous in order
  for (int axis = static_cast<int>(a.ndim()) - 1; axis >= 0; --axis) {
    const size_t places = a.shape(axis);
    if (places > 1 && a.strides()[axis] == run && !in_order)
      return DistantNeighbours{apart, places, run * a.itemsize()};
    if (places > 1 && a.strides()[axis] != run) in_order = false;
    if (in_order) run *= static_cast<int64_t>(places);
    apart *= places;
  }
  return std::nullopt;
}

// How much memory such threadgroups read one after the other: some cache lines, which then are
// still in a cache, or some rows of lines, which then are in an open page of memory.
constexpr size_t kLine = 64;
constexpr size_t kSharedLines = 4 * kLine;
constexpr size_t kSharedRows = 64 * kLine;

// A kernel that uses an array's strides and has one thread for each element runs its threadgroups
// in the order of the array's memory.
void set_threadgroup_order(metal::CommandEncoder& encoder, const KernelVariant& variant,
                           const std::vector<array>& inputs, MTL::Size grid) {
  for (const auto& slot : variant.slots) {
    if (slot.kind != Slot::Kind::InputStrides) continue;
    const array& a = inputs[slot.array];
    if (a.size() != grid.width || grid.height != 1 || grid.depth != 1) continue;
    const auto neighbours = find_distant_neighbours(a);
    if (!neighbours) continue;
    const size_t shared = neighbours->bytes < kLine ? kSharedLines : kSharedRows;
    const size_t places = std::min(neighbours->places, shared / neighbours->bytes);
    if (places > 1) return encoder.set_threadgroup_order(neighbours->apart, places);
  }
}

MTL::Size mtl_size(GridSize size) {
  auto [x, y, z] = size;
  return MTL::Size(x, y, z);
}

}  // namespace

KernelVariant::~KernelVariant() {
  for (auto& slot : pipelines) {
    if (auto* pipeline = slot.load()) pipeline->release();
  }
}

MLX_EVAL_MULTI(CustomKernel) {
  auto& device = metal::device(stream().device);
  const auto* pipeline = pipeline_of(*launch_.variant, stream().device, device.mtl_device());
  if ((launch_.checks | metal::active_checks()) & api::kCheckApple) {
    const auto reports = check_for_apple(launch_);
    if (!reports.empty()) metal::raise_reports(reports);
  }

  for (size_t i = 0; i < outputs.size(); ++i)
    prepare_output(launch_, inputs, i, outputs[i], stream());
  MTL::Size grid = mtl_size(launch_.grid);
  if (grid.width == 0 || grid.height == 0 || grid.depth == 0) return;

  std::vector<array> arguments;
  if (launch_.ensure_row_contiguous) {
    // The arrays that outputs start from follow the inputs and are not bound.
    arguments.reserve(inputs.size());
    auto end = inputs.end() - launch_.initial_inputs.size();
    for (auto it = inputs.begin(); it != end; ++it)
      arguments.push_back(row_contiguous(*it, stream()));
  }
  MTL::Size group = mtl_size(launch_.threadgroup);
  if (group.width * group.height * group.depth > pipeline->maxTotalThreadsPerThreadgroup()) {
    throw std::invalid_argument(
        "[metal_kernel] threadgroup: The kernel \"" + launch_.variant->name + "\" allows at most " +
        std::to_string(pipeline->maxTotalThreadsPerThreadgroup()) + " threads per threadgroup.");
  }
  group.width = std::min(group.width, grid.width);
  group.height = std::min(group.height, grid.height);
  group.depth = std::min(group.depth, grid.depth);

  auto& encoder = device.get_command_encoder(stream().index);
  encoder.set_compute_pipeline_state(pipeline);
  encoder.set_checks(launch_.checks | metal::active_checks());
  const auto& bound = launch_.ensure_row_contiguous ? arguments : inputs;
  for (const auto& slot : launch_.variant->slots) {
    bind(encoder, slot, bound, outputs);
    if (slot.kind == Slot::Kind::Output && !has_initial_value(launch_, slot.array))
      encoder.set_unwritten(slot.buffer);
  }
  set_threadgroup_order(encoder, *launch_.variant, bound, grid);
  encoder.dispatch_threads(grid, group);
}

std::string warnings_of(const KernelVariant& variant) {
  try {
    return compile(variant.source, variant.math_mode, /*for_apple=*/true)->warnings;
  } catch (const std::runtime_error&) {
    return {};  // the evaluation says so
  }
}

std::vector<api::CheckReport> source_reports(const KernelVariant& variant) {
  static auto& cache = *new SourceReports;  // never destroyed
  return cache.get(variant);
}

std::string why_scalar(const KernelVariant& variant, GridSize threadgroup, const Device& where) {
  auto [x, y, z] = threadgroup;
  const uint32_t size[3] = {static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                            static_cast<uint32_t>(z)};
  try {
    const auto* pipeline = pipeline_of(variant, where, metal::device(where).mtl_device());
    return static_cast<const api::host::PipelineObject*>(pipeline)->kernel().why_scalar(size);
  } catch (const std::runtime_error&) {
    return {};  // the evaluation says so
  }
}

std::vector<KernelDescription> describe_kernels(const std::string& source, KernelMathMode math_mode,
                                                const Device&) {
  const auto program = compile(source, math_mode);
  std::vector<KernelDescription> kernels;
  for (const auto& function : program->functions) {
    KernelDescription kernel{function.name, {}, ""};
    for (const auto& argument : function.arguments) {
      if (argument.kind == api::ArgumentKind::ThreadgroupMemory) {
        kernel.refusal = "takes threadgroup memory as its argument \"" + argument.name +
                         "\", whose size nobody gives: declare a threadgroup array in its body.";
      } else if (argument.kind == api::ArgumentKind::Buffer) {
        kernel.buffers.push_back({static_cast<int>(argument.index), argument.name,
                                  argument.writable, argument.element_type});
      }
    }
    for (const auto& constant : function.constants) {
      if (constant.required) {
        kernel.refusal = "needs the function constant \"" + constant.name +
                         "\", which metal_kernel does not set: make it a template parameter.";
      }
    }
    std::sort(kernel.buffers.begin(), kernel.buffers.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace mlx::core::fast
