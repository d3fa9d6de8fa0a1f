// Functions with every differentiable operation, for the tests of transformations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mlx/array.h"

namespace mlx::core::test {

struct Case {
  std::string name;
  std::function<std::vector<array>(const std::vector<array>&)> fun;
  std::vector<array> inputs;  // where the function is smooth
};

const std::vector<Case>& cases();

}  // namespace mlx::core::test
