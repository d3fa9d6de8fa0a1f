// Operations that come as one kernel, and kernels of the user's own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "mlx/array.h"
#include "mlx/utils.h"

namespace mlx::core::fast {

// The value of a template parameter of a custom kernel.
using TemplateArg = std::variant<int, bool, Dtype>;
using TemplateArgs = std::vector<std::pair<std::string, TemplateArg>>;

// Threads along x, y and z.
using GridSize = std::tuple<int, int, int>;

using CustomKernelFunction = std::function<std::vector<array>(
    const std::vector<array>& inputs, const std::vector<Shape>& output_shapes,
    const std::vector<Dtype>& output_dtypes, GridSize grid, GridSize threadgroup,
    TemplateArgs template_args, std::optional<float> init_value, bool verbose, StreamOrDevice s)>;

// A kernel whose body is written in the Metal Shading Language. Its signature is generated: inputs
// and outputs by name, NAME_shape, NAME_strides and NAME_ndim of inputs and the attributes of a
// kernel's place in the grid where the body mentions them. `header` stands before the function.
// compile_options: "math_mode" is "safe", "relaxed" or "fast".
CustomKernelFunction metal_kernel(const std::string& name,
                                  const std::vector<std::string>& input_names,
                                  const std::vector<std::string>& output_names,
                                  const std::string& source, const std::string& header = "",
                                  bool ensure_row_contiguous = true, bool atomic_outputs = false,
                                  const std::map<std::string, std::string>& compile_options = {});

}  // namespace mlx::core::fast
