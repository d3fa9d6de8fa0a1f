// Generates kernels for reductions of groups of elementwise operations: the loops of
// kernels/reduce_loops.h, which read a struct that computes the elements.
#include "mlx/backend/metal/compiled_reduce_kernels.h"

#include "mlx/backend/metal/elementwise_headers.h"

namespace mlx::core {

namespace {

constexpr const char* kReduceFunction = "compiled_reduce";
constexpr const char* kLoops[] = {"row_loop", "column_loop", "general_loop"};

// Writes f(i) for each number, separated by commas.
template <typename F>
std::string comma_list(size_t count, F&& f) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += (i ? ", " : "") + f(std::to_string(i), i);
  return list;
}

}  // namespace

CompiledReduceKernels::CompiledReduceKernels(const Trace& elementwise, std::string label)
    : label_(std::move(label)), text_(elementwise) {}

// The operations as a struct that behaves like Elements of reduce_loops.h.
std::string CompiledReduceKernels::chain(const ReducePlan& plan,
                                         const std::vector<ReducedInput>& inputs) const {
  using Access = ReducedInput::Access;
  std::string members;
  std::string loads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string number = std::to_string(i);
    const std::string& type = text_.input_types[i];
    members += "  const device " + type + "* in" + number + ";\n";
    loads += "    const " + type + " v" + number + " = in" + number +
             (inputs[i].access == Access::SideBySide ? "[i];\n" : "[0];\n");
  }
  const std::string moved = comma_list(inputs.size(), [&](const std::string& number, size_t i) {
    if (inputs[i].access == Access::Scalar) return "in" + number;
    return "in" + number + " + by.of[" + std::to_string(inputs[i].set) + "]";
  });
  const std::string sets = std::to_string(plan.strides.size());
  return "struct Chain {\n  static constexpr constant int kSets = " + sets + ";\n" + members +
         "  Chain operator+(Offsets<" + sets + "> by) const { return {" + moved + "}; }\n  " +
         text_.output_types[0] + " operator[](uint i) const {\n" + loads + text_.statements +
         "    return v" + std::to_string(text_.output_values[0]) + ";\n  }\n};\n";
}

std::string CompiledReduceKernels::source(const ReducePlan& plan,
                                          const std::vector<ReducedInput>& inputs,
                                          const std::string& op, const std::string& out) const {
  auto buffer = [](size_t number) { return " [[buffer(" + std::to_string(number) + ")]],\n    "; };
  std::string parameters;
  for (size_t i = 0; i < inputs.size(); ++i) {
    parameters += "const device " + text_.input_types[i] + "* in" + std::to_string(i) + buffer(i);
  }
  const std::string arrays =
      comma_list(inputs.size(), [](const std::string& number, size_t) { return "in" + number; });
  const size_t next = inputs.size();
  return std::string("#include \"mlx/backend/metal/kernels/utils.h\"\n") + kElementwiseHeaders +
         kReduceHeaders + chain(plan, inputs) + "\n[[kernel]] void " + kReduceFunction + "(\n    " +
         parameters + "device " + out + "* out" + buffer(next) + "constant const ReduceParams& p" +
         buffer(next + 1) + "constant const ReduceStrides* strides" + buffer(next + 2) +
         "uint3 pos [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {\n  " +
         kLoops[static_cast<int>(plan.layout)] + "<" + op + ">(Chain{" + arrays +
         "}, out, p, strides, pos, lane);\n}\n";
}

MTL::ComputePipelineState* CompiledReduceKernels::find(const ReducePlan& plan,
                                                       const std::vector<ReducedInput>& inputs,
                                                       const std::string& op, Dtype out,
                                                       Device device) {
  const std::string type = msl_type(out);
  std::string key =
      kLoops[static_cast<int>(plan.layout)] + op + type + std::to_string(plan.strides.size());
  for (const auto& input : inputs) {
    key += static_cast<char>(input.access) + std::to_string(input.set);
  }
  return variants_.find(key, device, [&] {
    return PipelineSource{source(plan, inputs, op, type), kReduceFunction, label_};
  });
}

}  // namespace mlx::core
