// Tests what convolutions pass to cuDNN, with a fake library.
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "cuda_driver/fake_cudnn.h"
#include "cuda_driver/library_test.h"
#include "metal/convolution.h"

namespace metal::test {
namespace {

class ConvolutionsTest : public LibraryTest<FakeCudnn> {
 protected:
  ConvolutionsTest() : LibraryTest("libcudnn.so.9", kFakeCudnn) {}

  void SetUp() override {
    LibraryTest::SetUp();
    for (float*& buffer : buffers_) {
      buffer = new_buffer<float>(4096);
      for (int i = 0; i < kElements; ++i) buffer[i] = static_cast<float>((i * 7 + 3) % 11) - 5;
    }
  }

  // Two images of 5 x 4 pixels with two groups of channels.
  static Convolution small(ConvolutionResult result) {
    Convolution made{
        .result = result, .images = 2, .groups = 2, .inputs = 2, .outputs = 3, .axes = {}};
    made.axes.push_back({5, 3, 3, 2, 1, 1});
    made.axes.push_back({4, 2, 2, 1, 2, 0});
    return made;
  }

  void run(const Convolution& convolution) {
    const auto plan = driver_.plan(convolution);
    if (!plan) throw std::runtime_error("there is no plan");
    const LibraryCall call{"convolution",
                           [&](void* queue, void* const* buffers) { plan->start(queue, buffers); }};
    LaunchParameters parameters;
    for (int i = 0; i < 4; ++i) parameters.buffers[i] = buffers_[i];
    stream_->start(call, parameters);
    stream_->wait();
  }

  std::vector<float> computed(ConvolutionResult result) {
    run(small(result));
    const float* data = buffers_[result == ConvolutionResult::Input    ? 0
                                 : result == ConvolutionResult::Weight ? 1
                                                                       : 2];
    return {data, data + kElements};
  }

  static constexpr int kElements = 200;
  float* buffers_[4] = {};  // input, weight, output, workspace
};

// The sum of all products is linear in each array: what its cotangents say.
TEST_F(ConvolutionsTest, TheThreePartsFitTogether) {
  constexpr int kInputs = 2 * 5 * 4 * 4, kWeights = 6 * 3 * 2 * 2, kOutputs = 2 * 3 * 2 * 6;
  const std::vector<float> x(buffers_[0], buffers_[0] + kInputs),
      w(buffers_[1], buffers_[1] + kWeights), y(buffers_[2], buffers_[2] + kOutputs);
  const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
  };
  const float sum = product(y, computed(ConvolutionResult::Output));
  std::copy(y.begin(), y.end(), buffers_[2]);
  EXPECT_NE(sum, 0);
  EXPECT_FLOAT_EQ(product(x, computed(ConvolutionResult::Input)), sum);
  std::copy(x.begin(), x.end(), buffers_[0]);
  EXPECT_FLOAT_EQ(product(w, computed(ConvolutionResult::Weight)), sum);
}

// Some engines are not usable, compile first, or may give other sums each time; matrix instructions
// would round float32.
TEST_F(ConvolutionsTest, TheFirstSuitableEngineIsUsed) {
  run(small(ConvolutionResult::Output));
  EXPECT_EQ(fake_->engine, 4);
  Convolution short_floats = small(ConvolutionResult::Output);
  short_floats.type = MatrixType::Bfloat16;
  run(short_floats);
  EXPECT_EQ(fake_->engine, 2);
}

TEST_F(ConvolutionsTest, EnginesForAllShapesAreUsedWhereThereAreNoOthers) {
  fake_->knows_shapes = false;
  run(small(ConvolutionResult::Output));
  EXPECT_EQ(fake_->engine, 4);
}

TEST_F(ConvolutionsTest, TheWorkspaceIsAligned) {
  run(small(ConvolutionResult::Output));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(fake_->workspace) % 256, 0u);
}

TEST_F(ConvolutionsTest, ThereIsNoPlanForWhatTheLibraryRefuses) {
  Convolution convolution = small(ConvolutionResult::Output);
  convolution.type = MatrixType::Float16;
  EXPECT_EQ(driver_.plan(convolution), nullptr);
  convolution.type = MatrixType::Float32;
  convolution.axes.push_back({});
  EXPECT_EQ(driver_.plan(convolution), nullptr);
}

TEST_F(ConvolutionsTest, AnErrorOfTheLibraryIsThatOfTheCall) {
  fake_->result = static_cast<cuda::CudnnStatus>(3000);
  try {
    computed(ConvolutionResult::Output);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "NVIDIA's cuDNN is unable to compute a graph of operations: an error of the fake");
  }
}

}  // namespace
}  // namespace metal::test
