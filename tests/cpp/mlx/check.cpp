// Comparisons of arrays in tests.
#include "mlx/check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "mlx/ops.h"

namespace mlx::core::test {

std::vector<double> values(const array& a) {
  array x = contiguous(astype(a.dtype() == complex64 ? real(a) : a, float32));
  x.eval();
  const float* data = x.data<float>();
  return {data, data + x.size()};
}

void expect_close(const array& actual, const array& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  auto a = values(actual);
  auto e = values(expected);
  double scale = 1e-6;
  for (double v : e) {
    scale = std::isfinite(v) ? std::max(scale, std::abs(v)) : scale;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
    ASSERT_TRUE(same || std::abs(a[i] - e[i]) <= tolerance * scale)
        << "element " << i << ": " << a[i] << " instead of " << e[i];
  }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

array sample(const Shape& shape, double low, double high, int seed) {
  size_t size = 1;
  for (int n : shape) {
    size *= n;
  }
  std::mt19937 generator(seed + 1);
  std::uniform_real_distribution<float> distribution(static_cast<float>(low),
                                                     static_cast<float>(high));
  std::vector<float> data(size);
  std::generate(data.begin(), data.end(), [&] { return distribution(generator); });
  return array(data.begin(), shape);
}

}  // namespace mlx::core::test
