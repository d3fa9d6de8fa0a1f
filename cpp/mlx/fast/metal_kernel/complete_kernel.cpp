// Complete kernels: finds out their arguments, binds arrays, builds the graph node.
#include "mlx/fast/metal_kernel/complete_kernel.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "mlx/backend/metal/checks.h"
#include "mlx/fast/metal_kernel/arguments.h"
#include "mlx/fast/metal_kernel/text.h"
#include "mlx/ops/shape.h"
#include "mlx/utils.h"

namespace mlx::core::fast {

namespace {

// The dtype of a scalar type of MSL; nullopt for vectors, structures and unknown types.
std::optional<Dtype> dtype_of(const std::string& element_type) {
  static const auto& types = *new std::map<std::string, Dtype>{
      // never destroyed
      {"bool", bool_},    {"char", int8},    {"uchar", uint8},   {"short", int16},
      {"ushort", uint16}, {"int", int32},    {"uint", uint32},   {"long", int64},
      {"ulong", uint64},  {"half", float16}, {"float", float32}, {"bfloat", bfloat16},
  };
  auto it = types.find(element_type);
  return it == types.end() ? std::nullopt : std::optional<Dtype>(it->second);
}

size_t element_count(const Shape& shape) {
  size_t count = 1;
  for (auto extent : shape) count *= extent;
  return count;
}

}  // namespace

CompleteKernel::CompleteKernel(std::string name, std::string source, KernelOptions options)
    : text_{std::move(name), options.header, std::move(source)}, options_(std::move(options)) {
  if (text_.name.empty()) throw std::invalid_argument("[metal_kernel] The kernel's name is empty.");
  if (options_.atomic_outputs) {
    fail("declares its own outputs; atomic_outputs=True is for kernels given as a body.");
  }
}

void CompleteKernel::fail(const std::string& message) const {
  throw std::invalid_argument("[metal_kernel] The kernel " + in_quotes(text_.name) + " " + message);
}

// Returns the function with the kernel's name, or the only function.
const CompleteKernel::Compiled& CompleteKernel::compiled() const {
  std::lock_guard lock(mutex_);
  if (compiled_) return *compiled_;
  std::string source = with_prelude(text_);
  auto kernels = describe_kernels(source, options_.math_mode, default_device());
  auto it = std::find_if(kernels.begin(), kernels.end(),
                         [&](const auto& k) { return k.function == text_.name; });
  if (it == kernels.end() && kernels.size() == 1) it = kernels.begin();
  if (it == kernels.end()) {
    fail(kernels.empty() ? "has no kernel function in its source."
                         : "has several functions in its source, none of that name: " +
                               joined(kernels, std::mem_fn(&KernelDescription::function)) + ".");
  }
  if (!it->refusal.empty()) fail(it->refusal);

  Compiled result;
  auto variant = std::make_shared<KernelVariant>();
  variant->name = text_.name;
  variant->function = it->function;
  variant->source = std::move(source);
  variant->math_mode = options_.math_mode;
  result.buffers = std::move(it->buffers);
  int inputs = 0;
  for (const auto& buffer : result.buffers) {
    auto kind = buffer.is_output ? Slot::Kind::Output : Slot::Kind::Input;
    variant->slots.push_back({kind, buffer.is_output ? result.outputs++ : inputs++, buffer.index});
  }
  if (result.outputs == 0) {
    fail("has no outputs: none of its arguments (" +
         joined(result.buffers, std::mem_fn(&KernelBuffer::name)) +
         ") is a device pointer that is not const.");
  }
  result.variant = std::move(variant);
  return compiled_.emplace(std::move(result));
}

array CompleteKernel::bind(const KernelArgument& argument, const KernelBuffer& buffer) const {
  auto declared = dtype_of(buffer.element_type);
  if (auto* value = std::get_if<array>(&argument)) {
    kernel_type(value->dtype(), "the argument " + in_quotes(buffer.name));
    if (declared && declared->size() > 1 && value->itemsize() != declared->size()) {
      fail("declares its argument " + in_quotes(buffer.name) + " with elements of type " +
           buffer.element_type + ", but was given an array of " + dtype_to_string(value->dtype()) +
           "; convert it with astype(" + dtype_to_string(*declared) +
           ") or reinterpret it with view.");
    }
    return *value;
  }
  if (buffer.is_output)
    fail("writes to its argument " + in_quotes(buffer.name) + ", which must be an array.");
  if (auto* value = std::get_if<bool>(&argument)) return array(*value, declared.value_or(bool_));
  if (auto* value = std::get_if<int64_t>(&argument)) return array(*value, declared.value_or(int32));
  if (declared && !is_floating_point(*declared)) {
    fail("declares its argument " + in_quotes(buffer.name) + " as " + buffer.element_type +
         ", but was given a float.");
  }
  return array(std::get<double>(argument), declared.value_or(float32));
}

// Checks how many arguments and shapes a call gives.
void CompleteKernel::check_counts(const Compiled& kernel,
                                  const std::vector<KernelArgument>& arguments,
                                  const CompleteKernelCall& call) const {
  const size_t buffers = kernel.buffers.size();
  const auto outputs = static_cast<size_t>(kernel.outputs);
  bool outputs_known = !call.output_shapes.empty() && !call.output_dtypes.empty();
  if (arguments.size() != buffers && !(outputs_known && arguments.size() == buffers - outputs)) {
    fail("has " + std::to_string(buffers) + " buffers (" +
         joined(kernel.buffers, std::mem_fn(&KernelBuffer::name)) + "), but was given " +
         std::to_string(arguments.size()) +
         " arguments; arrays for outputs may be left out where output_shape and output_dtype are "
         "given.");
  }
  auto check = [&](const char* what, size_t given) {
    if (given == 0 || given == outputs) return;
    fail("has " + std::to_string(outputs) + " outputs, but " + what + " gives " +
         std::to_string(given) + ".");
  };
  check("output_shapes", call.output_shapes.size());
  check("output_dtypes", call.output_dtypes.size());
  if (call.input_shapes.size() > arguments.size()) {
    fail("was given " + std::to_string(arguments.size()) + " arguments, but " +
         std::to_string(call.input_shapes.size()) + " input_shapes.");
  }
  for (size_t i = 0; i < call.input_shapes.size(); ++i) {
    auto* value = std::get_if<array>(&arguments[i]);
    if (value && value->size() != element_count(call.input_shapes[i])) {
      fail("was given an argument " + std::to_string(i) + " of shape " +
           shape_to_string(value->shape()) + ", whose size is not that of input_shapes, " +
           shape_to_string(call.input_shapes[i]) + ".");
    }
  }
}

// The shape and type of output `i`, given the array that it starts from.
std::pair<Shape, Dtype> CompleteKernel::output_of(const array& initial, size_t i,
                                                  const std::string& name,
                                                  const CompleteKernelCall& call) const {
  Shape shape = call.output_shapes.empty() ? initial.shape() : call.output_shapes[i];
  if (element_count(shape) != initial.size()) {
    fail("was given an array of shape " + shape_to_string(initial.shape()) + " for its output " +
         in_quotes(name) + ", whose size is not that of the output shape, " +
         shape_to_string(shape) + ".");
  }
  if (!call.output_dtypes.empty() && call.output_dtypes[i] != initial.dtype()) {
    fail("was given an array of " + dtype_to_string(initial.dtype()) + " for its output " +
         in_quotes(name) + ", which the output dtype says is " +
         dtype_to_string(call.output_dtypes[i]) + ".");
  }
  return {std::move(shape), initial.dtype()};
}

std::vector<array> CompleteKernel::operator()(const std::vector<KernelArgument>& arguments,
                                              const CompleteKernelCall& call) const {
  if (!call.grid)
    fail("needs a grid: pass grid=(x, y, z), the number of threads, at creation or at the call.");
  if (!call.threadgroup)
    fail("needs a threadgroup: pass threadgroup=(x, y, z) at creation or at the call.");
  check_launch(text_.name, *call.grid, *call.threadgroup);
  Stream stream = kernel_stream(call.stream);
  const Compiled& kernel = compiled();
  check_counts(kernel, arguments, call);

  const bool passes_outputs = arguments.size() == kernel.buffers.size();
  std::vector<array> inputs;
  std::vector<array> initial;
  std::vector<Dtype> dtypes;
  KernelLaunch launch;
  size_t next = 0;
  for (const auto& buffer : kernel.buffers) {
    if (!buffer.is_output) {
      inputs.push_back(bind(arguments[next++], buffer));
      continue;
    }
    size_t output = dtypes.size();
    if (passes_outputs) {
      initial.push_back(bind(arguments[next++], buffer));
      auto [shape, dtype] = output_of(initial.back(), output, buffer.name, call);
      // The output has the strides of the array that it starts from.
      if (initial.back().shape() != shape) initial.back() = reshape(initial.back(), shape, stream);
      launch.output_shapes.push_back(std::move(shape));
      dtypes.push_back(dtype);
    } else {
      check_shape(call.output_shapes[output], buffer.name);
      kernel_type(call.output_dtypes[output], "the output " + in_quotes(buffer.name));
      launch.output_shapes.push_back(call.output_shapes[output]);
      dtypes.push_back(call.output_dtypes[output]);
    }
  }
  // Inputs come first, in the order of the slots; then the arrays that outputs start from.
  for (const auto& value : initial) {
    launch.initial_inputs.push_back(static_cast<int>(inputs.size()));
    inputs.push_back(value);
  }
  launch.variant = kernel.variant;
  launch.grid = *call.grid;
  launch.threadgroup = *call.threadgroup;
  if (!passes_outputs) launch.init_value = call.init_value.value_or(InitValue(int64_t{0}));
  launch.ensure_row_contiguous = options_.ensure_row_contiguous;
  launch.checks = options_.checks | metal::active_checks();
  if (call.print) print_kernel(launch, stream.device, call.print);
  auto shapes = launch.output_shapes;
  return array::make_arrays(std::move(shapes), dtypes,
                            std::make_shared<CustomKernel>(stream, std::move(launch)), inputs);
}

}  // namespace mlx::core::fast
