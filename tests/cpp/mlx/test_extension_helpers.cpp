// Functions that primitives of extensions call besides operations: iterators, grids, views, copies.
#include <gtest/gtest.h>

#include <map>

#include "mlx/backend/common/binary.h"
#include "mlx/backend/common/broadcasting.h"
#include "mlx/backend/common/matmul.h"
#include "mlx/backend/common/unary.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/cpu/copy.h"
#include "mlx/backend/cpu/device_info.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/eval.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/gpu/eval.h"
#include "mlx/backend/gpu/slicing.h"
#include "mlx/backend/metal/allocator.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/dtype_utils.h"
#include "mlx/fast_primitives.h"
#include "mlx/ops.h"
#include "mlx/scheduler.h"
#include "mlx/transforms.h"

namespace mlx::core {
namespace {

array evaluated(array a) {
  a.eval();
  return a;
}

TEST(ExtensionHelpers, IteratorWalksInRowMajorOrder) {
  auto base = evaluated(reshape(arange(24), {2, 3, 4}));
  for (const auto& view : {evaluated(transpose(base, {2, 0, 1})), base,
                           evaluated(slice(base, {0, 0, 0}, {2, 3, 4}, {1, 2, 3})),
                           evaluated(broadcast_to(slice(base, {0, 0, 0}, {1, 3, 1}), {5, 3, 2})),
                           evaluated(array(3))}) {
    ContiguousIterator it(view);
    for (size_t i = 0; i < view.size(); ++i) {
      EXPECT_EQ(it.loc, elem_to_loc(i, view.shape(), view.strides()));
      it.step();
    }
    for (size_t i = view.size(); i-- > 0;) {
      it.seek(i);
      EXPECT_EQ(it.loc, elem_to_loc(i, view.shape(), view.strides()));
    }
  }
}

TEST(ExtensionHelpers, Contiguity) {
  EXPECT_EQ(check_contiguity({2, 3}, {3, 1}), std::make_tuple(6, true, false));
  EXPECT_EQ(check_contiguity({2, 3}, {1, 2}), std::make_tuple(6, false, true));
  EXPECT_EQ(check_contiguity({2, 3}, {0, 1}), std::make_tuple(3, false, false));
  EXPECT_EQ(check_contiguity({1, 3}, {7, 1}), std::make_tuple(3, true, true));
}

TEST(ExtensionHelpers, Grids) {
  EXPECT_EQ(get_2d_grid_dims({4, 6}, {6, 1}), MTL::Size(24, 1, 1));
  EXPECT_EQ(get_2d_grid_dims({4, 6}, {0, 1}), MTL::Size(6, 1, 1));
  EXPECT_EQ(get_2d_grid_dims({4, 6}, {6, 1}, 8), MTL::Size(3, 1, 1));
  auto [groups, block] = get_grid_and_block_common(100, 3, 1);
  EXPECT_GE(std::get<0>(groups) * std::get<0>(block), 100u);
  EXPECT_GE(std::get<1>(groups) * std::get<1>(block), 3u);
  EXPECT_EQ(ceildiv(7, 2), 4u);
  EXPECT_EQ(get_work_per_thread(float16), 4);
}

TEST(ExtensionHelpers, ParallelForCoversEachElementOnce) {
  for (size_t n : {0, 1, 999, 100000}) {
    std::vector<int> seen(n);
    cpu::parallel_for(n, 1000, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        ++seen[i];
      }
    });
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  }
}

TEST(ExtensionHelpers, WeakCopiesShareMemoryAndDoNotKeepIt) {
  auto a = evaluated(slice(arange(10), {2}, {8}, {2}));
  long uses = a.data_shared_ptr().use_count();
  auto copy = array::unsafe_weak_copy(a);
  EXPECT_EQ(a.data_shared_ptr().use_count(), uses);
  EXPECT_EQ(copy.data<int>(), a.data<int>());
  EXPECT_EQ(copy.strides(), a.strides());
}

TEST(ExtensionHelpers, DataWithAnOffset) {
  array a({2}, int32, nullptr, {});
  a.set_data(allocator::malloc(16), 2, {1}, {true, true, true}, int64_t(8));
  EXPECT_EQ(a.offset(), 8);
  EXPECT_EQ(reinterpret_cast<char*>(a.data<int>()) - static_cast<char*>(a.buffer().raw_ptr()), 8);
}

TEST(ExtensionHelpers, CopiesAndViewsInsideEvaluation) {
  auto s = default_stream(Device::gpu);
  auto a = evaluated(transpose(reshape(arange(6), {2, 3})));
  auto dense = contiguous_copy_gpu(a, s);
  auto on_host = contiguous_copy_cpu(a, default_stream(Device::cpu));
  auto flat = flatten_in_eval(a, 0, 1, s);
  auto swapped = swapaxes_in_eval(a, 0, -1);
  auto shaped = reshape_in_eval(swapped, {3, 2}, s);
  array ones({3, 2}, float32, nullptr, {});
  fill_gpu(array(1.0f), ones, s);
  synchronize(s);
  synchronize(default_stream(Device::cpu));
  // Such arrays are for use inside a primitive; here operations read them as well.
  for (const auto& made : {dense, on_host, flat, swapped, shaped, ones}) {
    made.set_status(array::Status::available);
  }
  for (const auto& copy : {dense, on_host}) {
    EXPECT_TRUE(copy.flags().row_contiguous);
    EXPECT_TRUE(array_equal(copy, a).item<bool>());
  }
  EXPECT_TRUE(array_equal(flat, array({0, 3, 1, 4, 2, 5}, int32)).item<bool>());
  EXPECT_EQ(swapped.data<int>(), a.data<int>());
  EXPECT_TRUE(array_equal(shaped, reshape(arange(6), {3, 2})).item<bool>());
  EXPECT_TRUE(array_equal(ones, mlx::core::ones({3, 2})).item<bool>());
}

array output(const Shape& shape, Dtype dtype) { return array(shape, dtype, nullptr, {}); }

// What was computed on a stream, for operations to read.
array finished(array made, Stream s) {
  synchronize(s);
  made.set_status(array::Status::available);
  return made;
}

TEST(ExtensionHelpers, SlicesAndArraysPutTogether) {
  const Stream s = default_stream(Device::gpu);
  const array a = evaluated(reshape(arange(12), {3, 4}));
  array part = output({2, 2}, int32);
  slice_gpu(a, part, {0, 1}, {2, 2}, s);
  EXPECT_EQ(part.data<int>(), a.data<int>() + 1);
  EXPECT_TRUE(array_equal(finished(part, s), array({1, 3, 9, 11}, {2, 2})).item<bool>());
  array joined = output({3, 6}, int32);
  concatenate_gpu({a, evaluated(slice(a, {0, 0}, {3, 2}))}, joined, 1, s);
  EXPECT_TRUE(array_equal(slice(finished(joined, s), {0, 3}, {3, 6}),
                          reshape(array({3, 0, 1, 7, 4, 5, 11, 8, 9}), {3, 3}))
                  .item<bool>());
  array padded = output({5, 4}, int32);
  pad_gpu(a, array(7), padded, {0}, {1}, s);
  EXPECT_TRUE(array_equal(finished(padded, s), pad(a, {0}, {1}, {1}, array(7))).item<bool>());
  array repeated = output({2, 3, 4}, int32);
  broadcast(a, repeated);
  EXPECT_EQ(repeated.strides(), (Strides{0, 4, 1}));
  EXPECT_TRUE(repeated.flags().contiguous);
  EXPECT_EQ(repeated.data_size(), a.size());
  EXPECT_TRUE(array_equal(finished(repeated, s), broadcast_to(a, {2, 3, 4})).item<bool>());
}

TEST(ExtensionHelpers, CopiesWithOffsetsThatAreArrays) {
  const array a = evaluated(reshape(arange(20), {4, 5}));
  const array from = evaluated(array(int64_t(6))), to = evaluated(array(3, int32));
  for (const Device device : {Device(Device::cpu), Device(Device::gpu)}) {
    const Stream s = default_stream(device);
    const auto copy_part = [&](auto&&... args) {
      device == Device::cpu ? copy_cpu_inplace(args...) : copy_gpu_inplace(args...);
    };
    for (bool dynamic_from : {false, true}) {
      for (bool dynamic_to : {false, true}) {
        array out = evaluated(zeros({3, 4}, float32));
        copy_part(a, out, Shape{2, 2}, a.strides(), out.strides(), dynamic_from ? 1 : 7,
                  dynamic_to ? 2 : 5, CopyType::GeneralGeneral, s,
                  dynamic_from ? std::optional(from) : std::nullopt,
                  dynamic_to ? std::optional(to) : std::nullopt);
        const array expected({0, 0, 0, 0, 0, 7, 8, 0, 0, 12, 13, 0}, {3, 4});
        EXPECT_TRUE(array_equal(finished(out, s), expected).item<bool>());
      }
    }
  }
}

TEST(ExtensionHelpers, DimensionsOfSeveralArraysCollapseTogether) {
  const array a = evaluated(zeros({2, 3, 4})),
              b = evaluated(transpose(zeros({3, 2, 4}), {1, 0, 2}));
  const auto [two, strides] = collapse_contiguous_dims(a, b);
  EXPECT_EQ(two, (Shape{2, 3, 4}));
  EXPECT_EQ(strides, (std::vector<Strides>{{12, 4, 1}, {4, 8, 1}}));
  const auto [three, all] = collapse_contiguous_dims(a, a, a);
  EXPECT_EQ(three, (Shape{24}));
  EXPECT_EQ(all, (std::vector<Strides>{{1}, {1}, {1}}));
  const array x = evaluated(zeros({2, 3, 4, 5})), y = evaluated(zeros({2, 3, 5, 6}));
  EXPECT_EQ(collapse_batches(x, y), std::make_tuple(Shape{6}, Strides{20}, Strides{30}));
  const array m = evaluated(zeros({4, 5}));
  EXPECT_EQ(collapse_batches(m, m, m),
            std::make_tuple(Shape{1}, Strides{0}, Strides{0}, Strides{0}));
}

// x * y, with rules that come from operations.
class FusedProduct : public fast::Custom {
 public:
  using Custom::Custom;
  void eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) override {
    outputs[0].set_data(allocator::malloc(outputs[0].nbytes()));
    const float *x = inputs[0].data<float>(), *y = inputs[1].data<float>();
    cpu::get_command_encoder(stream()).dispatch(
        [x, y, to = outputs[0].data<float>(), size = outputs[0].size()] {
          for (size_t i = 0; i < size; ++i) to[i] = x[i] * y[i];
        });
  }
  void eval_gpu(const std::vector<array>&, std::vector<array>&) override {
    throw std::runtime_error("This runs on the CPU.");
  }
};

array fused_product(const array& x, const array& y) {
  const auto fallback = [](const std::vector<array>& in) {
    return std::vector<array>{multiply(in[0], in[1])};
  };
  auto primitive = std::make_shared<FusedProduct>(default_stream(Device::cpu), fallback);
  return array(x.shape(), x.dtype(), std::move(primitive), {x, y});
}

TEST(ExtensionHelpers, CustomPrimitivesHaveTheRulesOfTheirFallback) {
  const array x({1.0f, 2.0f}), y({3.0f, 4.0f}), one({1.0f, 1.0f});
  EXPECT_TRUE(array_equal(fused_product(x, y), array({3.0f, 8.0f})).item<bool>());
  const auto square = [](const array& a) { return fused_product(a, a); };
  const array twice({2.0f, 4.0f});
  EXPECT_TRUE(array_equal(vjp(square, x, one).second, twice).item<bool>());
  EXPECT_TRUE(array_equal(jvp(square, x, one).second, twice).item<bool>());
  const auto mapped = vmap([](const array& a, const array& b) { return fused_product(a, b); });
  EXPECT_TRUE(array_equal(mapped(x, y), array({3.0f, 8.0f})).item<bool>());
}

TEST(ExtensionHelpers, TasksRunBehindTheWorkOfAStream) {
  const Stream s = default_stream(Device::cpu);
  array sum = add(ones({1000}), ones({1000}), s);
  async_eval({sum});
  float seen = 0;
  const float* last = sum.data<float>() + 999;
  scheduler::enqueue(s, [&seen, last] { seen = *last; });
  synchronize(s);
  EXPECT_EQ(seen, 2);
}

TEST(ExtensionHelpers, BuffersOfExistingMemory) {
  alignas(16384) static float memory[4096] = {1, 2};
  allocator::Buffer buffer = allocator::make_buffer(memory, sizeof memory);
  const bool is_unified = metal::device(Device::gpu).mtl_device()->hasUnifiedMemory();
  ASSERT_EQ(buffer.ptr() != nullptr, is_unified);
  if (!is_unified) return;  // such a device cannot use the host's memory
  EXPECT_EQ(buffer.raw_ptr(), static_cast<void*>(memory));
  EXPECT_EQ(metal::allocator().size(buffer), sizeof memory);
  allocator::release(buffer);
}

TEST(ExtensionHelpers, DefaultStreamsWithoutCreatingThem) {
  const Stream s = default_stream(Device::cpu);
  EXPECT_EQ(peek_default_stream(Device::cpu), s);
  const ThreadLocalStream local = new_thread_local_stream(Device::cpu);
  EXPECT_EQ(stream_from_thread_local_stream(local), to_stream(local));
}

TEST(ExtensionHelpers, EvaluationByTheNamesOfEitherDevice) {
  array one = evaluated(array(1));
  const auto pool = metal::new_scoped_memory_pool();
  EXPECT_EQ(cpu::device_count(), 1);
  EXPECT_EQ(&gpu::device_info(), &device_info(Device::gpu));
  array on_host = add(one, one, Device::cpu);
  cpu::eval(on_host);
  cpu::finalize(default_stream(Device::cpu));
  cpu::synchronize(default_stream(Device::cpu));
  ASSERT_TRUE(gpu::is_available());
  array on_metal = add(one, one, Device::gpu);
  gpu::eval(on_metal);
  gpu::finalize(default_stream(Device::gpu));
  gpu::synchronize(default_stream(Device::gpu));
  EXPECT_EQ(*on_host.data<int>(), 2);
  EXPECT_EQ(*on_metal.data<int>(), 2);
}

TEST(ExtensionHelpers, TypesAreDispatchedByKind) {
  const auto name = [](auto type) { return dtype_to_string(TypeToDtype<MLX_GET_TYPE(type)>()); };
  for (const Dtype dtype : {bool_, uint8, int16, uint64, float16, bfloat16, float32, complex64}) {
    const bool whole = issubdtype(dtype, integer), real = issubdtype(dtype, floating);
    const bool complex = dtype == complex64;
    const auto check = [&](bool allowed, auto&& dispatch) {
      if (allowed) {
        EXPECT_EQ(dispatch(), dtype_to_string(dtype));
      } else {
        EXPECT_THROW(dispatch(), std::invalid_argument);
      }
    };
    check(whole, [&] { return dispatch_int_types(dtype, "[op]", name); });
    check(real, [&] { return dispatch_float_types(dtype, "[op]", name); });
    check(whole || real, [&] { return dispatch_int_float_types(dtype, "[op]", name); });
    check(real || complex, [&] { return dispatch_inexact_types(dtype, "[op]", name); });
    check(!complex, [&] { return dispatch_real_types(dtype, "[op]", name); });
  }
}

TEST(ExtensionHelpers, StreamsAndDevicesAreKeys) {
  std::map<Stream, int> streams = {{default_stream(Device::cpu), 1},
                                   {default_stream(Device::gpu), 2}};
  std::map<Device, int> devices = {{Device::cpu, 1}, {Device::gpu, 2}};
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(devices.at(Device::gpu), 2);
}

}  // namespace
}  // namespace mlx::core

// In a program with this line, `metal` means MLX's namespace: metal-cpp's headers have no other
// one.
using namespace mlx::core;

TEST(ExtensionHelpers, NamespacesWithoutQualification) {
  EXPECT_TRUE(metal::is_available());
  EXPECT_NE(metal::device(Device::gpu).mtl_device(), nullptr);
}
