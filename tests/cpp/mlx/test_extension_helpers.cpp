// Functions that primitives of extensions call besides operations: iterators, grids, views, copies.
#include <gtest/gtest.h>

#include <map>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/cpu/copy.h"
#include "mlx/backend/cpu/eval.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/gpu/eval.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/dtype_utils.h"
#include "mlx/ops.h"
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

TEST(ExtensionHelpers, EvaluationByTheNamesOfEitherDevice) {
  array one = evaluated(array(1));
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
