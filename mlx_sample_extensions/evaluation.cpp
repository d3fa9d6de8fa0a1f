// Memory and kernels for evaluation.
#include "evaluation.h"

#include "mlx/device.h"

namespace mlx_sample {

void allocate(mx::array& out) { out.set_data(mx::allocator::malloc(out.nbytes())); }

void allocate(std::vector<mx::array>& outputs) {
  for (auto& out : outputs) {
    allocate(out);
  }
}

mx::array uninitialized(mx::Shape shape, mx::Dtype dtype) {
  mx::array a(std::move(shape), dtype, nullptr, {});
  allocate(a);
  return a;
}

mx::array temporary(mx::Shape shape, mx::Dtype dtype, mx::Stream s) {
  auto a = uninitialized(std::move(shape), dtype);
  mx::metal::get_command_encoder(s).add_temporary(a);
  return a;
}

bool has_own_memory(const mx::Device& device) {
  return device.type == mx::Device::gpu &&
         !mx::metal::device(device).mtl_device()->hasUnifiedMemory();
}

MTL::ComputePipelineState* find_kernel(const std::string& name, mx::Stream s,
                                       std::initializer_list<FunctionConstant> constants) {
  auto& d = mx::metal::device(s.device);
  auto* library = d.get_library("mlx_ext", mx::metal::get_colocated_mtllib_path("mlx_ext"));
  std::string special = name;
  mx::metal::MTLFCList values;
  for (const auto& constant : constants) {
    const auto index = values.size();
    if (auto* number = std::get_if<int>(&constant)) {
      special += '_' + std::to_string(*number);
      values.emplace_back(number, MTL::DataTypeInt, index);
    } else {
      auto* flag = std::get_if<bool>(&constant);
      special += *flag ? "_true" : "_false";
      values.emplace_back(flag, MTL::DataTypeBool, index);
    }
  }
  return d.get_kernel(name, library, special, values);
}

}  // namespace mlx_sample
