// Tests what is copied between the host's memory and that of a device which has its own.
#include <gtest/gtest.h>

#include <Metal/Metal.hpp>
#include <numeric>
#include <vector>

#include "metal/driver.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

// The copies since it was made.
class Copies {
 public:
  uint64_t uploads() const { return now().uploads - before_.uploads; }
  uint64_t downloads() const { return now().downloads - before_.downloads; }
  uint64_t downloaded_bytes() const { return now().downloaded_bytes - before_.downloaded_bytes; }

 private:
  static ::metal::TransferStatistics now() { return ::metal::transfer_statistics(); }
  ::metal::TransferStatistics before_ = now();
};

array ramp(int count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return array(values.begin(), {count});
}

NS::SharedPtr<MTL::ComputePipelineState> pipeline_of(MTL::Device& device, const char* source,
                                                     const char* name) {
  const auto text = [](const char* chars) {
    return NS::String::string(chars, NS::UTF8StringEncoding);
  };
  auto library = NS::TransferPtr(device.newLibrary(text(source), nullptr, nullptr));
  auto function = NS::TransferPtr(library->newFunction(text(name)));
  return NS::TransferPtr(device.newComputePipelineState(function.get(), nullptr));
}

TEST(Transfers, ResultsStayOnTheDevice) {
  const array x = ramp(1000);
  const Copies copies;
  array y = add(x, x);
  for (int i = 0; i < 10; ++i) {
    y = multiply(y, x);
    eval(y);
  }
  EXPECT_EQ(copies.uploads(), 1);
  EXPECT_EQ(copies.downloads(), 0);
  EXPECT_EQ(sum(y).item<float>() > 0, true);
  EXPECT_EQ(copies.downloads(), 1);
  EXPECT_EQ(copies.downloaded_bytes(), sizeof(float));
}

TEST(Transfers, OneElementOfManyIsCopiedAlone) {
  array x = multiply(ramp(1 << 20), array(2.0f));
  eval(x);
  const Copies copies;
  EXPECT_EQ(slice(x, {777}, {778}).item<float>(), 1554);
  EXPECT_EQ(copies.downloaded_bytes(), sizeof(float));
}

TEST(Transfers, AStepOfTrainingCopiesTheBatchAndTheLoss) {
  array w1 = random::normal({16, 32}), w2 = random::normal({32, 1});
  const auto loss = [](const std::vector<array>& p) {
    const array hidden = tanh(sum(multiply(expand_dims(p[2], 2), expand_dims(p[0], 0)), 1));
    const array out = sum(multiply(expand_dims(hidden, 2), expand_dims(p[1], 0)), 1);
    return mean(square(subtract(out, p[3])));
  };
  const auto gradient = value_and_grad(loss, std::vector<int>{0, 1});
  const array rate = array(0.01f);
  float number = 0;
  const auto step = [&] {
    std::vector<float> values(8 * 16, ++number);
    const array batch(values.begin(), {8 * 16}), labels(values.begin(), {8});
    const auto [value, grads] =
        gradient({w1, w2, reshape(batch, {8, 16}), reshape(labels, {8, 1})});
    w1 = subtract(w1, multiply(rate, grads[0]));
    w2 = subtract(w2, multiply(rate, grads[1]));
    eval(value, w1, w2);
    return array(value).item<float>();
  };
  step();
  const Copies copies;
  for (int i = 0; i < 5; ++i) step();
  EXPECT_LE(copies.downloads(), 5);
  EXPECT_EQ(copies.uploads(), 5 * 2);  // the batch and its labels
  EXPECT_EQ(copies.downloaded_bytes(), 5 * sizeof(float));
}

TEST(Transfers, ScalarsAreCopiedOnce) {
  const array x = multiply(ramp(100), array(2.0f));
  const auto compute = [&] {
    array y = where(greater(x, array(50.0f)), x, array(-1.0f));
    y = take(y, array({3, 99, 40}, {3}), 0);
    eval(y);
    return sum(y).item<float>();
  };
  const float expected = compute();
  EXPECT_EQ(expected, -1 + 198 + 80);
  const Copies copies;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(compute(), expected);
  EXPECT_EQ(copies.uploads(), 0);
}

TEST(Transfers, ScalarsWhoseValuesChangeAreCopiedAnew) {
  const array x = ramp(4);
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<float>(i);
    EXPECT_EQ(slice(add(x, array(value)), {3}, {4}).item<float>(), value + 3) << i;
  }
}

// A kernel may find what it writes by another binding of the same buffer.
TEST(Transfers, AConstantThatTheLaunchWritesIsNoCopy) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  const char* source =
      "kernel void step(device int* to [[buffer(0)]], device const int* from [[buffer(1)]]) {"
      "  to[0] = 5;"
      "  to[1] = from[0];"
      "}";
  auto pipeline = pipeline_of(*device, source, "step");
  const int before[] = {1, 2};
  auto buffer =
      NS::TransferPtr(device->newBuffer(before, sizeof(before), MTL::ResourceStorageModeShared));
  auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(buffer.get(), 0, 0);
  encoder->setBuffer(buffer.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(static_cast<int*>(buffer->contents())[1], 5);
}

TEST(Transfers, HostTasksSeeWhatKernelsWroteAndTheReverse) {
  const array x = add(ramp(64), array(1.0f));
  const array sorted = sort(negative(x));
  const array back = negative(sorted);
  eval(back);
  EXPECT_EQ(slice(back, {0}, {1}).item<float>(), 64);
  const array a = add(reshape(x, {8, 8}), multiply(array(100.0f), eye(8)));
  const array product = matmul(linalg::inv(a, Device::cpu), a);
  EXPECT_LT(max(abs(subtract(product, eye(8)))).item<float>(), 1e-4f);
}

TEST(Transfers, AHostViewSharesTheMemory) {
  array x = multiply(ramp(10), array(3.0f));
  eval(x);
  {
    const HostView view(x);
    auto* values = const_cast<float*>(std::as_const(x).data<float>());
    EXPECT_EQ(values[4], 12);
    for (int i = 0; i < 3; ++i) {
      values[4] = static_cast<float>(i);
      EXPECT_EQ(sum(x).item<float>(), 123 + i);
    }
  }
  x.data<float>()[0] = 1000;
  EXPECT_EQ(sum(x).item<float>(), 1125);
}

// Programs that use Metal's interface keep the pointer that contents() returns.
TEST(Transfers, ContentsAreSharedWithKernels) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  const char* source =
      "kernel void grow(device int* x [[buffer(0)]], constant int& by [[buffer(1)]],"
      "                 uint i [[thread_position_in_grid]]) { x[i] += by; }";
  auto pipeline = pipeline_of(*device, source, "grow");
  auto buffer = NS::TransferPtr(device->newBuffer(64, MTL::ResourceStorageModeShared));
  auto* values = static_cast<int*>(buffer->contents());
  std::fill_n(values, 16, 0);
  auto host = NS::TransferPtr(MTL::CreateHostDevice());
  ASSERT_NE(host.get(), device.get());
  for (auto& queue :
       {NS::TransferPtr(device->newCommandQueue()), NS::TransferPtr(host->newCommandQueue())}) {
    for (int i = 0; i < 3; ++i) {
      values[i] += 10;
      MTL::CommandBuffer* commands = queue->commandBuffer();
      MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(pipeline.get());
      encoder->setBuffer(buffer.get(), 0, 0);
      for (int by : {1, 2}) {
        encoder->setBytes(&by, sizeof(by), 1);
        encoder->dispatchThreads(MTL::Size(16, 1, 1), MTL::Size(16, 1, 1));
      }
      encoder->endEncoding();
      commands->commit();
      commands->waitUntilCompleted();
      ASSERT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
    }
  }
  EXPECT_EQ(values[0], 38);
  EXPECT_EQ(values[2], 38);
  EXPECT_EQ(values[15], 18);
}

}  // namespace
}  // namespace mlx::core::test
