// Kernels given as a body: checks the arguments of a call, finds or creates the variant, builds the
// graph node.
#include "mlx/fast/metal_kernel/metal_kernel.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "mlx/backend/metal/checks.h"
#include "mlx/fast.h"
#include "mlx/fast/metal_kernel/arguments.h"

namespace mlx::core::fast {

namespace {

InputKind kind_of(const array& input) {
  if (input.ndim() == 0) return InputKind::Reference;
  return input.size() < 8 ? InputKind::Constant : InputKind::Device;
}

TemplateParameter template_parameter(const std::string& name, const TemplateArg& value) {
  if (auto* type = std::get_if<Dtype>(&value)) {
    std::string text(kernel_type(*type, "the template parameter \"" + name + "\""));
    return {name, "typename", text};
  }
  if (auto* flag = std::get_if<bool>(&value)) return {name, "bool", *flag ? "true" : "false"};
  return {name, "int", std::to_string(std::get<int>(value))};
}

// All properties of a call on which the source depends.
std::string variant_key(const std::vector<array>& inputs, const KernelCall& call) {
  std::string key;
  for (const auto& input : inputs) {
    key += static_cast<char>(input.dtype().val());
    key += static_cast<char>(kind_of(input));
  }
  for (const auto& dtype : call.output_dtypes) key += static_cast<char>(dtype.val());
  for (const auto& [name, value] : call.template_args) {
    key.append(name).push_back('\0');
    key += static_cast<char>(value.index());
    if (auto* type = std::get_if<Dtype>(&value)) {
      key += static_cast<char>(type->val());
    } else {
      int number =
          std::holds_alternative<int>(value) ? std::get<int>(value) : std::get<bool>(value);
      key.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  return key;
}

std::vector<Slot> slots_of(const Signature& signature) {
  std::vector<Slot> slots;
  auto add = [&](Slot::Kind kind, size_t array) {
    slots.push_back({kind, static_cast<int>(array), static_cast<int>(slots.size())});
  };
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const auto& companions = signature.inputs[i].companions;
    add(Slot::Kind::Input, i);
    if (companions.shape) add(Slot::Kind::InputShape, i);
    if (companions.strides) add(Slot::Kind::InputStrides, i);
    if (companions.ndim) add(Slot::Kind::InputNdim, i);
  }
  for (size_t i = 0; i < signature.outputs.size(); ++i) add(Slot::Kind::Output, i);
  return slots;
}

BodyScope scope_of(const std::string& body, const Signature& signature) {
  BodyScope scope{.body = body, .atomic_outputs = signature.atomic_outputs};
  for (const auto& input : signature.inputs) {
    scope.inputs.emplace_back(input.name);
    if (input.kind == InputKind::Constant) scope.constant_inputs.emplace_back(input.name);
  }
  for (const auto& output : signature.outputs) scope.outputs.emplace_back(output.name);
  for (const auto& argument : signature.templates) scope.templates.emplace_back(argument.name);
  return scope;
}

}  // namespace

MetalKernel::MetalKernel(std::string name, std::vector<std::string> input_names,
                         std::vector<std::string> output_names, std::string source,
                         KernelOptions options)
    : text_{std::move(name), options.header, std::move(source)},
      input_names_(std::move(input_names)),
      output_names_(std::move(output_names)),
      options_(std::move(options)),
      mentioned_(identifiers_in(text_.body)) {
  if (text_.name.empty()) throw std::invalid_argument("[metal_kernel] The kernel's name is empty.");
  if (output_names_.empty()) {
    throw std::invalid_argument("[metal_kernel] The kernel \"" + text_.name + "\" has no outputs.");
  }
  NameSet names(text_.name);
  for (const auto& input : input_names_) names.add(input, "input");
  for (const auto& output : output_names_) names.add(output, "output");
}

std::shared_ptr<const KernelVariant> MetalKernel::make_variant(const std::vector<array>& inputs,
                                                               const KernelCall& call) const {
  NameSet names(text_.name);
  for (const auto& input : input_names_) names.add(input, "input");
  for (const auto& output : output_names_) names.add(output, "output");
  for (const auto& [name, value] : call.template_args) names.add(name, "template parameter");

  Signature signature;
  signature.atomic_outputs = options_.atomic_outputs;
  signature.attributes = attributes_of(mentioned_, names.all());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& name = input_names_[i];
    signature.inputs.push_back({name, kernel_type(inputs[i].dtype(), "the input \"" + name + "\""),
                                kind_of(inputs[i]), companions_of(name, mentioned_, names.all())});
  }
  for (size_t i = 0; i < output_names_.size(); ++i) {
    const auto& name = output_names_[i];
    Dtype dtype = call.output_dtypes[i];
    if (options_.atomic_outputs) check_atomic(dtype, name);
    signature.outputs.push_back({name, kernel_type(dtype, "the output \"" + name + "\"")});
  }
  for (const auto& [name, value] : call.template_args) {
    signature.templates.push_back(template_parameter(name, value));
  }
  check_buffer_count(text_.name, signature.buffer_count());

  auto variant = std::make_shared<KernelVariant>();
  auto generated = generate_source(text_, signature);
  variant->name = text_.name;
  variant->function = std::move(generated.function);
  variant->source = std::move(generated.source);
  variant->math_mode = options_.math_mode;
  variant->slots = slots_of(signature);
  variant->scope = scope_of(text_.body, signature);
  return variant;
}

std::shared_ptr<const KernelVariant> MetalKernel::variant_for(const std::vector<array>& inputs,
                                                              const KernelCall& call) const {
  std::lock_guard lock(mutex_);
  return variants_.get(variant_key(inputs, call), [&] { return make_variant(inputs, call); });
}

void MetalKernel::check(const std::vector<array>& inputs, const KernelCall& call) const {
  check_count(text_.name, "inputs", inputs.size(), input_names_);
  check_count(text_.name, "output_shapes", call.output_shapes.size(), output_names_);
  check_count(text_.name, "output_dtypes", call.output_dtypes.size(), output_names_);
  for (size_t i = 0; i < call.output_shapes.size(); ++i) {
    check_shape(call.output_shapes[i], output_names_[i]);
  }
  check_launch(text_.name, call.grid, call.threadgroup);
}

std::vector<array> MetalKernel::operator()(const std::vector<array>& inputs,
                                           const KernelCall& call) const {
  check(inputs, call);
  Stream stream = kernel_stream(call.stream);
  KernelLaunch launch;
  launch.variant = variant_for(inputs, call);
  launch.grid = call.grid;
  launch.threadgroup = call.threadgroup;
  launch.init_value = call.init_value;
  launch.ensure_row_contiguous = options_.ensure_row_contiguous;
  launch.output_shapes = call.output_shapes;
  launch.checks = options_.checks | metal::active_checks();
  if (call.print) print_kernel(launch, stream.device, call.print);
  return array::make_arrays(call.output_shapes, call.output_dtypes,
                            std::make_shared<CustomKernel>(stream, std::move(launch)), inputs);
}

void print_kernel(const KernelLaunch& launch, const Device& device, const SourcePrinter& print) {
  const KernelVariant& variant = *launch.variant;
  print("Generated source code for `" + variant.name + "`:\n" + variant.source);
  const std::string warnings = warnings_of(variant);
  if (!warnings.empty()) print("Warnings of the compiler for `" + variant.name + "`:\n" + warnings);
  auto [x, y, z] = launch.grid;
  if (x == 0 || y == 0 || z == 0) return;
  auto [width, height, depth] = launch.threadgroup;
  const GridSize threadgroup{std::min(width, x), std::min(height, y), std::min(depth, z)};
  const std::string reason = why_scalar(variant, threadgroup, device);
  if (!reason.empty())
    print("The kernel `" + variant.name + "` runs one thread at a time: " + reason + ".");
}

CustomKernelFunction metal_kernel(const std::string& name,
                                  const std::vector<std::string>& input_names,
                                  const std::vector<std::string>& output_names,
                                  const std::string& source, const std::string& header,
                                  bool ensure_row_contiguous, bool atomic_outputs,
                                  const std::map<std::string, std::string>& compile_options) {
  KernelOptions options{header, ensure_row_contiguous, atomic_outputs,
                        parse_compile_options(compile_options)};
  auto kernel = std::make_shared<MetalKernel>(name, input_names, output_names, source, options);
  return [kernel](const std::vector<array>& inputs, const std::vector<Shape>& output_shapes,
                  const std::vector<Dtype>& output_dtypes, GridSize grid, GridSize threadgroup,
                  TemplateArgs template_args, std::optional<float> init_value, bool verbose,
                  StreamOrDevice s) {
    KernelCall call{
        output_shapes, output_dtypes, grid, threadgroup, std::move(template_args), {}, {}, s};
    if (init_value) call.init_value = static_cast<double>(*init_value);
    if (verbose)
      call.print = [](const std::string& text) { std::cout << text << "\n" << std::flush; };
    return (*kernel)(inputs, call);
  };
}

}  // namespace mlx::core::fast
