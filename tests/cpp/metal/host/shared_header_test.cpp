// Structures of types of simd/simd.h have one layout on the host and in kernels.
#include <gtest/gtest.h>
#include <simd/simd.h>

#include <cstddef>

#include "metal/native_kernel.h"

namespace metal::test {
namespace {

#define SHARED_TEXT(...) #__VA_ARGS__
#define SHARED_SOURCE(text) SHARED_TEXT(text)
#define SHARED_STRUCTURES     \
  struct Light {              \
    vector_float3 position;   \
    float power;              \
    simd::float2 corner;      \
    simd_uchar4 colour;       \
    simd_ulong2 wide;         \
    matrix_float3x3 rotation; \
    simd_float4x4 view;       \
    vector_short3 last;       \
  };

SHARED_STRUCTURES

TEST(SharedHeader, HostAndKernelAgree) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const std::string source = "#include <metal_stdlib>\n#include <simd/simd.h>\n" +
                             std::string(SHARED_SOURCE(SHARED_STRUCTURES)) + R"(
    kernel void f(constant Light& a [[buffer(0)]], device Light& b [[buffer(1)]]) {
      b = a;
      b.position = a.rotation * a.position;
      b.view = a.view * a.view;
      b.last += 1;
      b.wide.y = sizeof(Light);
    })";
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device()->newLibrary(string(source.c_str()), nullptr, &error));
  ASSERT_TRUE(library) << error->localizedDescription()->utf8String();
  auto function = NS::TransferPtr(library->newFunction(string("f")));
  auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
  ASSERT_TRUE(state);
  Data<Light> a(1), b(1);
  a[0].position = {1, 2, 3};
  a[0].power = 4;
  a[0].corner = simd::float2(5, 6);
  a[0].colour = simd_make_uchar4(7, 8, 9, 10);
  a[0].wide = simd_make_ulong2(11, 12);
  a[0].rotation = matrix_float3x3({0, 1, 0}, {1, 0, 0}, {0, 0, 2});
  a[0].view = 3 * matrix_identity_float4x4;
  a[0].last = {13, 14, 15};
  ASSERT_EQ(run(state.get(), {a, b}, {1, 1, 1}, {1, 1, 1}), "");
  EXPECT_TRUE(simd_equal(b[0].position, a[0].rotation * a[0].position));
  EXPECT_EQ(b[0].power, 4);
  EXPECT_TRUE(simd_equal(b[0].corner, a[0].corner));
  EXPECT_EQ(b[0].colour.w, 10);
  EXPECT_EQ(b[0].wide.x, 11u);
  EXPECT_EQ(b[0].wide.y, sizeof(Light));
  EXPECT_EQ(b[0].view.columns[3].w, 9);
  EXPECT_TRUE(simd_equal(b[0].last, a[0].last + 1));
}

TEST(SharedHeader, Arithmetic) {
  const simd_float3 x = {1, 0, 0}, y = {0, 2, 0};
  EXPECT_TRUE(simd_equal(simd_cross(x, y), simd_make_float3(0, 0, 2)));
  EXPECT_EQ(simd_dot(x + 1, y), 2);
  EXPECT_EQ(simd_length(simd_normalize(y)), 1);
  EXPECT_EQ(simd::distance(x, x - 2.0f * y), 4);
  EXPECT_TRUE(simd_equal(simd_clamp(y, x, simd_float3(1)), simd_float3(1, 1, 0)));
  EXPECT_TRUE(simd_equal(simd_mix(x, y, simd_float3(0.5f)), simd_float3(0.5f, 1, 0)));
  const simd_float2x3 columns(x, y);
  const simd_float3x2 rows = simd_transpose(columns);
  EXPECT_TRUE(simd_equal((rows * columns).columns[1], simd_float2(0, 4)));
  EXPECT_TRUE(simd_equal(columns * simd_float2(3, 4), 3 * x + 4 * y));
  EXPECT_TRUE(simd_equal(simd_mul(matrix_identity_float3x3 * 2, x), 2 * x));
}

}  // namespace
}  // namespace metal::test
