// The encoders as extensions use them: custom primitives on streams of both devices.
#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/metal.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/backend_helpers.h"
#include "mlx/primitives.h"

namespace mlx::core {
namespace {

using namespace testing;

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;
template <typename T>
[[kernel]] void scale(device const T* x [[buffer(0)]], device T* out [[buffer(1)]],
                      constant const float& factor [[buffer(2)]], constant const int* shape [[buffer(3)]],
                      uint index [[thread_position_in_grid]]) {
  out[index] = static_cast<T>(factor) * x[index] + static_cast<T>(shape[0]);
}
template [[host_name("scale_float32")]] [[kernel]] decltype(scale<float>) scale<float>;
)";

// factor * x + x.shape(0), in the styles of newer and of older extensions.
class Scale : public UnaryPrimitive {
 public:
  Scale(Stream s, float factor, bool old_style)
      : UnaryPrimitive(s), factor_(factor), old_style_(old_style) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    auto& x = inputs[0];
    if (old_style_) {
      out.set_data(allocator::malloc_or_wait(x.data_size() * out.itemsize()), x.data_size(),
                   x.strides(), x.flags());
      copy_inplace(x, out, CopyType::Vector);
      for (size_t i = 0; i < out.size(); ++i) {
        out.data<float>()[i] = factor_ * out.data<float>()[i] + x.shape(0);
      }
      return;
    }
    out.set_data(allocator::malloc(out.nbytes()));
    auto& encoder = cpu::get_command_encoder(stream());
    encoder.set_input_array(x);
    encoder.set_output_array(out);
    encoder.dispatch([from = x.data<float>(), to = out.data<float>(), n = out.size(),
                      shape = x.shape(), strides = x.strides(), factor = factor_]() {
      for (size_t i = 0; i < n; ++i) {
        to[i] = factor * from[elem_to_loc(i, shape, strides)] + shape[0];
      }
    });
  }

  void eval_gpu(const std::vector<array>& inputs, array& out) override {
    auto& x = inputs[0];
    auto& s = stream();
    auto& d = metal::device(s.device);
    out.set_data(allocator::malloc_or_wait(out.nbytes()));
    auto* library = d.get_library("backend_encoder_test", [] { return std::string(kSource); });
    auto kernel = d.get_kernel("scale_" + type_to_name(out), library);
    size_t n = out.size();
    MTL::Size group(std::min(n, static_cast<size_t>(kernel->maxTotalThreadsPerThreadgroup())), 1,
                    1);
    MTL::Size grid(n, 1, 1);
    if (old_style_) {
      auto& compute_encoder = d.get_command_encoder(s.index);
      compute_encoder->setComputePipelineState(
          d.get_kernel("scale_float32", "backend_encoder_test"));
      set_array_buffer(compute_encoder, x, 0);
      set_array_buffer(compute_encoder, out, 1);
      compute_encoder->setBytes(&factor_, sizeof(float), 2);
      compute_encoder->setBytes(x.shape().data(), x.ndim() * sizeof(int), 3);
      compute_encoder->dispatchThreads(grid, group);
      return;
    }
    auto& encoder = metal::get_command_encoder(s);
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_input_array(x, 0);
    encoder.set_output_array(out, 1);
    encoder.set_bytes(factor_, 2);
    encoder.set_vector_bytes(x.shape(), 3);
    encoder.dispatch_threads(grid, group);
  }

  const char* name() const override { return "Scale"; }

 private:
  float factor_;
  bool old_style_;
};

TEST(BackendEncoder, PrimitivesOfExtensions) {
  for (Device device : {Device(Device::cpu), Device(Device::gpu)}) {
    for (bool old_style : {false, true}) {
      auto s = default_stream(device);
      auto x = add(numbers({40, 3}, float32), array(1.0f), s);
      auto out = array(x.shape(), float32, std::make_shared<Scale>(s, 3.0f, old_style), {x});
      auto want = doubles(add(numbers({40, 3}, float32), array(1.0f), s));
      for (auto& value : want) {
        value = (3 * value + 40) * 2;
      }
      expect_near(doubles(multiply(out, array(2.0f), s)), want, 0);
    }
  }
}

TEST(BackendEncoder, HostTasksAndKernelsKeepTheirOrder) {
  auto s = new_stream(Device::cpu);
  auto x = full({100}, 1.0f, float32, s);
  std::vector<double> want(100, 1);
  for (int i = 0; i < 40; ++i) {
    x = array(x.shape(), float32, std::make_shared<Scale>(s, 0.5f, false), {x});
    x = subtract(x, array(99.0f), s);
    for (auto& value : want) {
      value = 0.5 * value + 1;
    }
  }
  expect_near(doubles(x), want, 1e-5);
}

TEST(BackendEncoder, ErrorsOfTasksReachWhoeverWaits) {
  class Fails : public UnaryPrimitive {
   public:
    using UnaryPrimitive::UnaryPrimitive;
    void eval_cpu(const std::vector<array>&, array& out) override {
      out.set_data(allocator::malloc(out.nbytes()));
      cpu::get_command_encoder(stream()).dispatch([] { throw std::domain_error("no"); });
    }
    void eval_gpu(const std::vector<array>& inputs, array& out) override { eval_cpu(inputs, out); }
  };
  auto s = default_stream(Device::cpu);
  auto bad = array({2}, float32, std::make_shared<Fails>(s), {});
  EXPECT_THROW(bad.eval(), std::domain_error);
  expect_near(doubles(add(array(1.0f), array(1.0f), s)), {2}, 0);
}

TEST(BackendEncoder, DeviceFacts) {
  EXPECT_TRUE(metal::is_available());
  auto& info = metal::device_info();
  EXPECT_FALSE(std::get<std::string>(info.at("device_name")).empty());
  EXPECT_GT(std::get<size_t>(info.at("memory_size")), 0u);
  EXPECT_THROW(metal::device().get_kernel("no_such_kernel"), std::runtime_error);
  metal::device().get_library("backend_encoder_test", [] { return std::string(kSource); });
  try {
    metal::device().get_kernel("scale_flaot32", "backend_encoder_test");
    FAIL() << "there is no such kernel";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "[metal::Device] Unable to load the kernel scale_flaot32: no kernel named "
                 "\"scale_flaot32\" in this library; did you mean \"scale_float32\"? It has "
                 "scale_float32.");
  }
  EXPECT_THROW(metal::device().get_library("no_such_library", "/nowhere"), std::runtime_error);
}

TEST(BackendCommon, CollapsesWhatAllOperandsWalkEvenly) {
  auto [shape, strides] = collapse_contiguous_dims(
      Shape{2, 3, 4, 5}, std::vector<Strides>{{60, 20, 5, 1}, {60, 20, 5, 1}});
  EXPECT_EQ(shape, Shape({120}));
  auto [one, broadcast] =
      collapse_contiguous_dims(Shape{2, 3, 4}, std::vector<Strides>{{12, 4, 1}, {0, 0, 1}});
  EXPECT_EQ(one, Shape({6, 4}));
  EXPECT_EQ(broadcast[1], Strides({0, 1}));
  auto [scalar, none] = collapse_contiguous_dims(Shape{1, 1}, std::vector<Strides>{{7, 9}});
  EXPECT_EQ(scalar, Shape({1}));
}

}  // namespace
}  // namespace mlx::core
