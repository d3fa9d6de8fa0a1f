// Tests what Fourier transforms pass to cuFFT, with a fake library.
#include <gtest/gtest.h>

#include <complex>
#include <stdexcept>
#include <vector>

#include "cuda_driver/fake_cufft.h"
#include "cuda_driver/library_test.h"
#include "metal/fourier_transform.h"

namespace metal::test {
namespace {

using Complex = std::complex<float>;

class FourierTransformsTest : public LibraryTest<FakeCufft> {
 protected:
  FourierTransformsTest() : LibraryTest("libcufft.so.12", kFakeCufft) {}

  void SetUp() override {
    LibraryTest::SetUp();
    for (void*& buffer : buffers_) buffer = new_buffer<void>(4096);
  }

  // Two transforms, interleaved if the stride is 2.
  template <typename To, typename From>
  std::vector<To> transformed(TransformKind kind, int64_t length, const std::vector<From>& input,
                              size_t results, int64_t stride = 1) {
    std::copy(input.begin(), input.end(), static_cast<From*>(buffers_[0]));
    const FourierTransform transform{kind, {length}, 2, stride};
    const auto plan = driver_.plan(transform);
    if (!plan) throw std::runtime_error("there is no plan");
    const LibraryCall call{"transform",
                           [&](void* queue, void* const* buffers) { plan->start(queue, buffers); }};
    LaunchParameters parameters;
    for (int i = 0; i < 3; ++i) parameters.buffers[i] = buffers_[i];
    stream_->start(call, parameters);
    stream_->wait();
    const auto* output = static_cast<const To*>(buffers_[1]);
    return {output, output + results};
  }

  template <typename T>
  static void expect_near(const std::vector<T>& got, const std::vector<T>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_LT(std::abs(got[i] - want[i]), 1e-4f) << i;
  }

  void* buffers_[3] = {};  // input, output, workspace
};

TEST_F(FourierTransformsTest, ForwardAndBackWithoutFactors) {
  const std::vector<Complex> x{{1, 2}, {3, -1}, {0, 4}, {5, 5}, {-2, 1}, {0.5f, 0}};
  const auto sums = transformed<Complex>(TransformKind::ComplexForward, 3, x, 6);
  EXPECT_LT(std::abs(sums[0] - (x[0] + x[1] + x[2])), 1e-5f);
  auto back = transformed<Complex>(TransformKind::ComplexInverse, 3, sums, 6);
  for (auto& number : back) number /= 3.0f;
  expect_near(back, x);
}

TEST_F(FourierTransformsTest, RealNumbersHaveHalfTheSums) {
  const std::vector<float> x{1, 2, 3, 4, 5, -1, 0, 2, 7, 1};
  const auto sums = transformed<Complex>(TransformKind::RealToComplex, 5, x, 6);
  EXPECT_LT(std::abs(sums[3] - Complex(9, 0)), 1e-5f);
  auto back = transformed<float>(TransformKind::ComplexToReal, 5, sums, 10);
  for (auto& number : back) number /= 5.0f;
  expect_near(back, x);
}

TEST_F(FourierTransformsTest, InterleavedTransforms) {
  const std::vector<float> rows{1, 2, 3, 4, 5, -1, 0, 2, 7, 1};
  std::vector<float> columns(10);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 2; ++j) columns[i * 2 + j] = rows[j * 5 + i];
  const auto of_rows = transformed<Complex>(TransformKind::RealToComplex, 5, rows, 6);
  const auto of_columns = transformed<Complex>(TransformKind::RealToComplex, 5, columns, 6, 2);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 2; ++j)
      EXPECT_LT(std::abs(of_columns[i * 2 + j] - of_rows[j * 3 + i]), 1e-5f);
  auto back = transformed<float>(TransformKind::ComplexToReal, 5, of_columns, 10, 2);
  for (auto& number : back) number /= 5.0f;
  expect_near(back, columns);
}

TEST_F(FourierTransformsTest, TheWorkspaceIsAligned) {
  buffers_[2] = static_cast<char*>(buffers_[2]) + 4;
  transformed<Complex>(TransformKind::ComplexForward, 2, std::vector<Complex>(4), 4);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(fake_->workspace) % 256, 0u);
  EXPECT_GE(fake_->workspace, buffers_[2]);
}

TEST_F(FourierTransformsTest, ThereIsNoPlanForWhatTheLibraryRefuses) {
  EXPECT_EQ(driver_.plan(FourierTransform{TransformKind::ComplexForward, {2, 2}, 1, 1}), nullptr);
}

TEST_F(FourierTransformsTest, AnErrorOfTheLibraryIsThatOfTheCall) {
  const FourierTransform transform{TransformKind::ComplexForward, {2}, 1, 1};
  const auto plan = driver_.plan(transform);
  fake_->result = cuda::CufftResult::InvalidSize;
  try {
    plan->start(nullptr, buffers_);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "NVIDIA's cuFFT is unable to transform: error 8");
  }
}

}  // namespace
}  // namespace metal::test
