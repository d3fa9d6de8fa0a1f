// Tests what products of matrices pass to cuBLASLt, with a fake library.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "cuda_driver/fake_cublas.h"
#include "cuda_driver/library_test.h"
#include "metal/matrix_product.h"

namespace metal::test {
namespace {

class MatrixProductsTest : public LibraryTest<FakeCublas> {
 protected:
  MatrixProductsTest() : LibraryTest("libcublasLt.so.13", kFakeCublas) {}

  void SetUp() override {
    LibraryTest::SetUp();
    for (float*& buffer : buffers_) {
      buffer = new_buffer<float>(sizeof(float) * kElements);
      for (int i = 0; i < kElements; ++i) buffer[i] = static_cast<float>((i * 7 + 3) % 11) - 5;
    }
  }

  // Two products of (2, 3) and (3, 4) matrices.
  static MatrixProduct small() {
    MatrixProduct product{.m = 2, .n = 4, .k = 3, .batch = 2};
    product.a = {false, 3, 6, 16};
    product.b = {false, 4, 12, 16};
    product.c = {false, 4, 8, 16};
    return product;
  }

  void start(const MatrixProduct& product, double alpha, double beta) {
    const auto plan = driver_.plan(product);
    ASSERT_NE(plan, nullptr);
    const LibraryCall call{"product", [&](void* queue, void* const* buffers) {
                             plan->start(queue, buffers, alpha, beta);
                           }};
    LaunchParameters parameters;
    for (int i = 0; i < 5; ++i) parameters.buffers[i] = buffers_[i];
    stream_->start(call, parameters);
    stream_->wait();
  }

  float expected(const MatrixProduct& p, int64_t i, int64_t row, int64_t column) const {
    float sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      const auto& [a, b] = std::pair{p.a, p.b};
      const int64_t x = i * a.step + (a.transposed ? k * a.leading + row : row * a.leading + k);
      const int64_t y =
          i * b.step + (b.transposed ? column * b.leading + k : k * b.leading + column);
      sum += buffers_[0][x] * buffers_[1][y];
    }
    return sum;
  }

  void expect_right(const MatrixProduct& p, float alpha, float beta) {
    const std::vector<float> before(buffers_[2], buffers_[2] + kElements);
    start(p, alpha, beta);
    for (int64_t i = 0; i < p.batch; ++i) {
      for (int64_t row = 0; row < p.m; ++row) {
        for (int64_t column = 0; column < p.n; ++column) {
          const int64_t at = i * p.c.step + row * p.c.leading + column;
          const float added =
              beta * before[static_cast<size_t>(at)] + (p.adds_row ? buffers_[4][column] : 0.0f);
          EXPECT_EQ(buffers_[2][at], alpha * expected(p, i, row, column) + added);
        }
      }
    }
  }

  static constexpr int kElements = 200;
  float* buffers_[5] = {};  // a, b, c, the workspace and a row
};

TEST_F(MatrixProductsTest, BatchesOfRows) { expect_right(small(), 1, 0); }

TEST_F(MatrixProductsTest, ScalesAndAdds) { expect_right(small(), 2, -3); }

TEST_F(MatrixProductsTest, AddsARow) {
  MatrixProduct product = small();
  product.adds_row = true;
  expect_right(product, 2, 0);
}

TEST_F(MatrixProductsTest, TransposedFactors) {
  MatrixProduct product = small();
  product.a = {true, 2, 6, 16};
  expect_right(product, 1, 0);
  product.b = {true, 5, 20, 16};
  expect_right(product, 1, 1);
  product.a = small().a;
  expect_right(product, 1, 0);
}

TEST_F(MatrixProductsTest, AStepOfZeroRepeatsAMatrix) {
  MatrixProduct product = small();
  product.b.step = 0;
  expect_right(product, 1, 0);
}

TEST_F(MatrixProductsTest, TheWorkspaceIsAlignedAndLiesInThatOfTheCall) {
  buffers_[3] += 4;
  start(small(), 1, 0);
  const auto* first = reinterpret_cast<const char*>(buffers_[3]);
  const auto* used = static_cast<const char*>(fake_->workspace);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(used) % 256, 0u);
  EXPECT_GE(used, first);
  EXPECT_LE(used + fake_->workspace_bytes, first + driver_.plan(small())->workspace_bytes());
}

TEST_F(MatrixProductsTest, ThereIsNoPlanForWhatTheLibraryRefuses) {
  MatrixProduct product = small();
  product.type = MatrixType::Complex64;
  EXPECT_EQ(driver_.plan(product), nullptr);
}

TEST_F(MatrixProductsTest, AnErrorOfTheLibraryIsThatOfTheCall) {
  fake_->result = cuda::CublasStatus::NotSupported;
  try {
    start(small(), 1, 0);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "NVIDIA's cuBLASLt is unable to multiply matrices: an error of the fake");
  }
}

}  // namespace
}  // namespace metal::test
