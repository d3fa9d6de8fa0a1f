// mlx::core::fast::metal_kernel from C++.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "mlx/mlx.h"

namespace mlx::core {
namespace {

constexpr const char* kScale = R"(
    uint i = thread_position_in_grid.x;
    y[i] = T(x[i]) * T(factor);
)";

std::vector<array> scale(const fast::CustomKernelFunction& kernel, const array& x, float factor,
                         Dtype type, int threadgroup = 32) {
  return kernel({x, array(factor)}, {x.shape()}, {type}, {static_cast<int>(x.size()), 1, 1},
                {threadgroup, 1, 1}, {{"T", type}}, std::nullopt, false, {});
}

TEST(MetalKernel, Runs) {
  auto kernel = fast::metal_kernel("scale", {"x", "factor"}, {"y"}, kScale);
  for (Dtype type : {float32, float16, bfloat16, int32}) {
    auto y = scale(kernel, arange(100, float32), 2.0f, type)[0];
    EXPECT_EQ(y.dtype(), type);
    EXPECT_TRUE(array_equal(astype(y, float32), arange(0, 200, 2, float32)).item<bool>());
  }
}

TEST(MetalKernel, TakesEveryKindOfTemplateValue) {
  auto kernel = fast::metal_kernel("values", {}, {"y"}, "y[0] = FLAG ? N : T(0.5f) * 10;");
  auto run = [&](bool flag) {
    return kernel({}, {Shape{1}}, {float32}, {1, 1, 1}, {1, 1, 1},
                  {{"T", float16}, {"N", -7}, {"FLAG", flag}}, std::nullopt, false, {})[0]
        .item<float>();
  };
  EXPECT_EQ(run(true), -7.0f);
  EXPECT_EQ(run(false), 5.0f);
}

TEST(MetalKernel, StartsFromTheInitialValue) {
  auto kernel = fast::metal_kernel("count", {}, {"y", "z"},
                                   "atomic_fetch_add_explicit(&y[0], 1, memory_order_relaxed);", "",
                                   true, true);
  auto out = kernel({}, {Shape{2}, Shape{}}, {int32, float32}, {100, 1, 1}, {32, 1, 1}, {}, 3.0f,
                    false, {});
  EXPECT_TRUE(array_equal(out[0], array({103, 3}, int32)).item<bool>());
  EXPECT_EQ(out[1].item<float>(), 3.0f);
}

TEST(MetalKernel, CopiesStridedInputsUnlessTold) {
  constexpr const char* source = "y[thread_position_in_grid.x] = x[thread_position_in_grid.x];";
  array x = transpose(reshape(arange(12, float32), {3, 4}));
  auto run = [&](bool contiguous) {
    auto kernel = fast::metal_kernel("copy", {"x"}, {"y"}, source, "", contiguous);
    return kernel({x}, {x.shape()}, {float32}, {12, 1, 1}, {12, 1, 1}, {}, std::nullopt, false,
                  {})[0];
  };
  EXPECT_TRUE(array_equal(run(true), x).item<bool>());
  EXPECT_TRUE(array_equal(run(false), reshape(arange(12, float32), {4, 3})).item<bool>());
}

TEST(MetalKernel, UsesTheHeaderAndTheMathMode) {
  auto kernel = fast::metal_kernel("header", {}, {"y"}, "y[0] = twice(VALUE);",
                                   "#ifdef __FAST_MATH__\n#define VALUE 4\n#endif\n"
                                   "static float twice(float v) { return v + v; }",
                                   true, false, {{"math_mode", "fast"}});
  auto y = kernel({}, {Shape{1}}, {float32}, {1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {})[0];
  EXPECT_EQ(y.item<float>(), 8.0f);
}

TEST(MetalKernel, ComposesWithOperations) {
  auto kernel = fast::metal_kernel("scale", {"x", "factor"}, {"y"}, kScale);
  array x = arange(10, float32);
  auto y = scale(kernel, add(x, array(1.0f)), 3.0f, float32)[0];
  EXPECT_EQ(sum(y).item<float>(), 165.0f);
}

TEST(MetalKernel, RefusesWrongArguments) {
  EXPECT_THROW(fast::metal_kernel("k", {"x"}, {"x"}, ""), std::invalid_argument);
  EXPECT_THROW(fast::metal_kernel("k", {}, {}, ""), std::invalid_argument);
  EXPECT_THROW(fast::metal_kernel("k", {}, {"y"}, "", "", true, false, {{"mode", "fast"}}),
               std::invalid_argument);
  auto kernel = fast::metal_kernel("scale", {"x", "factor"}, {"y"}, kScale);
  array x = arange(10, float32);
  EXPECT_THROW(scale(kernel, x, 1.0f, float32, 2048), std::invalid_argument);
  EXPECT_THROW(scale(kernel, x, 1.0f, float64), std::invalid_argument);
  EXPECT_THROW(
      kernel({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {}),
      std::invalid_argument);
  EXPECT_THROW(
      kernel({x, x}, {x.shape()}, {float32}, {-1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {}),
      std::invalid_argument);
}

TEST(MetalKernel, CompileErrorsPointAtTheSource) {
  auto kernel = fast::metal_kernel("broken", {}, {"y"}, "\n  y[0] = missing;");
  auto y = kernel({}, {Shape{1}}, {float32}, {1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {})[0];
  try {
    y.eval();
    FAIL() << "it compiled";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("broken:2:10: error"), std::string::npos)
        << error.what();
  }
}

TEST(MetalKernel, HasNoGradientOfItsOwn) {
  auto kernel = fast::metal_kernel("scale", {"x", "factor"}, {"y"}, kScale);
  auto f = [&](const array& x) { return sum(scale(kernel, x, 2.0f, float32)[0]); };
  EXPECT_THROW(grad(f)(arange(10, float32)), std::invalid_argument);
}

TEST(MetalKernel, RunsInThreads) {
  auto kernel = fast::metal_kernel("scale", {"x", "factor"}, {"y"}, kScale);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Stream stream = new_stream(Device::gpu);
      for (int i = 0; i < 10; ++i) {
        array x = full({16 + t}, static_cast<float>(i), float32, stream);
        auto y = kernel({x, array(2.0f)}, {x.shape()}, {float32}, {16 + t, 1, 1}, {8, 1, 1},
                        {{"T", float32}}, std::nullopt, false, stream)[0];
        y.eval();
        right += y.data<float>()[15] == 2.0f * i;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace mlx::core
