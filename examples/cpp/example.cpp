// Arrays, a gradient and a Metal kernel from C++, without Python.
#include <iostream>

#include "mlx/mlx.h"

namespace mx = mlx::core;

// Fits a line to noisy points by gradient descent.
void fit_a_line() {
  mx::random::seed(0);
  auto x = mx::linspace(-1, 1, 100);
  auto y = 3.0f * x + 0.5f + 0.01f * mx::random::normal({100});
  auto loss = [&](const std::vector<mx::array>& w) {
    return mx::mean(mx::square(w[0] * x + w[1] - y));
  };
  auto gradient = mx::grad(loss, std::vector<int>{0, 1});
  std::vector<mx::array> weights = {mx::array(0.0f), mx::array(0.0f)};
  for (int step = 0; step < 200; ++step) {
    auto g = gradient(weights);
    weights = {weights[0] - 0.5f * g[0], weights[1] - 0.5f * g[1]};
    mx::eval(weights);
  }
  std::cout << "slope " << weights[0].item<float>() << ", offset " << weights[1].item<float>()
            << "\n";
}

// Sums rows with a SIMD-group each.
void sum_rows() {
  auto kernel = mx::fast::metal_kernel("row_sums", {"inp"}, {"out"}, R"(
    uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
    float sum = 0;
    for (int i = lane; i < inp_shape[1]; i += 32) sum += inp[row * inp_shape[1] + i];
    sum = simd_sum(sum);
    if (lane == 0) out[row] = sum;
  )");
  auto x = mx::reshape(mx::arange(0, 12, mx::float32), {3, 4});
  auto sums =
      kernel({x}, {{3}}, {mx::float32}, {3 * 32, 1, 1}, {32, 1, 1}, {}, std::nullopt, false, {})[0];
  std::cout << "sums of rows " << sums << "\n";
}

int main() {
  std::cout << "device " << mx::default_device() << "\n";
  fit_a_line();
  sum_rows();
}
