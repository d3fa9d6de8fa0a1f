// The Walsh-Hadamard transform, as products with small matrices.
#include <bit>
#include <cmath>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core {

namespace {

// Square matrices of -1 and 1, row by row.
struct Signs {
  int size;
  std::vector<float> values;

  explicit Signs(int n) : size(n), values(static_cast<size_t>(n) * n) {}
  float& at(int row, int column) { return values[static_cast<size_t>(row) * size + column]; }
};

// Sylvester's construction: the sign of an element is the parity of the bits that its row and
// column have in common.
Signs power_of_two(int size) {
  Signs h(size);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      h.at(i, j) = std::popcount(static_cast<unsigned>(i & j)) % 2 ? -1 : 1;
    }
  }
  return h;
}

// Paley's second construction, from the squares modulo 5; of size 12.
Signs paley() {
  constexpr int kSquares[] = {0, 1, -1, -1, 1};
  constexpr float kZero[2][2] = {{1, -1}, {-1, -1}}, kOne[2][2] = {{1, 1}, {1, -1}};
  Signs h(12);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      const int row = i / 2, column = j / 2;
      const int sign = row == column             ? 0
                       : row == 0 || column == 0 ? 1
                                                 : kSquares[(column - row + 5) % 5];
      const int k = i % 2, l = j % 2;
      h.at(i, j) = sign == 0 ? kZero[k][l] : static_cast<float>(sign) * kOne[k][l];
    }
  }
  return h;
}

// Williamson's construction: a square of 4 x 4 circulant matrices, given by their first rows.
Signs williamson(const std::string (&first_rows)[4]) {
  constexpr int kBlocks[4][4] = {{1, 2, 3, 4}, {-2, 1, -4, 3}, {-3, 4, 1, -2}, {-4, -3, 2, 1}};
  const int size = static_cast<int>(first_rows[0].size());
  Signs h(4 * size);
  for (int i = 0; i < 4 * size; ++i) {
    for (int j = 0; j < 4 * size; ++j) {
      const int block = kBlocks[i / size][j / size];
      const char sign = first_rows[std::abs(block) - 1][(j - i % size + size) % size];
      h.at(i, j) = (sign == '+') == (block > 0) ? 1 : -1;
    }
  }
  return h;
}

Signs odd_factor(int size) {
  if (size == 12) return paley();
  if (size == 20) return williamson({"+----", "+----", "++--+", "+-++-"});
  return williamson({"+------", "++----+", "+-+--+-", "+--++--"});
}

// Factors of the size, whose matrices' Kronecker product is the transform: 12, 20 or 28 first, then
// powers of two.
std::vector<int> factors_of(int size) {
  constexpr int kLargest = 64;
  std::vector<int> factors;
  const int powers = size & -size;
  if (const int odd = size / powers; odd != 1) {
    if ((odd != 3 && odd != 5 && odd != 7) || powers < 4) return {};
    factors.push_back(4 * odd);
    size = powers / 4;
  }
  for (; size > kLargest; size /= kLargest) factors.push_back(kLargest);
  if (size > 1) factors.push_back(size);
  return factors;
}

// Applies the matrix to x (rows, size, inner) along `size`.
array apply(const Signs& h, const array& x, const Stream& s) {
  array matrix(h.values.data(), {h.size, h.size}, x.dtype());
  if (x.shape(-1) > 1) return matmul(matrix, x, s);
  array rows = squeeze(x, -1, s);
  return expand_dims(matmul(rows, swapaxes(matrix, 0, 1, s), s), -1, s);
}

}  // namespace

array hadamard_transform(const array& a, std::optional<float> scale, StreamOrDevice s) {
  const char* op = "hadamard_transform";
  const Stream stream = to_stream(s);
  check_real(a, op);
  if (a.ndim() == 0) return squeeze(hadamard_transform(expand_dims(a, 0, s), scale, s), 0, s);
  const int size = a.shape(-1);
  const Dtype dtype = at_least_float(a.dtype());
  if (a.size() == 0 && size != 0) return zeros(a.shape(), dtype, stream);
  const std::vector<int> factors = size > 0 ? factors_of(size) : std::vector<int>{};
  if (factors.empty() && size != 1) {
    invalid_argument(op, message("The last dimension must be m * 2^k with m one of 1, 12, 20 or "
                                 "28, but the shape is ",
                                 a.shape(), "."));
  }
  array x = astype(a, dtype == float64 ? float64 : float32, stream);
  int inner = size;
  for (int factor : factors) {
    inner /= factor;
    const Signs h = factor % 4 == 0 && !std::has_single_bit(static_cast<unsigned>(factor))
                        ? odd_factor(factor)
                        : power_of_two(factor);
    x = apply(h, reshape(x, {-1, factor, inner}, stream), stream);
  }
  const double by = scale ? *scale : 1 / std::sqrt(static_cast<double>(size));
  x = multiply(reshape(x, a.shape(), stream), scalar(by, x), stream);
  return astype(x, dtype, stream);
}

}  // namespace mlx::core
