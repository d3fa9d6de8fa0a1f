// Which kernels access memory far apart along a row of threads.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "metal/cpu/runtime/jit.h"

namespace metal::cpu {
namespace {

std::shared_ptr<CpuKernel> load(const std::string& body) {
  const auto program = compile(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void k(const device float* x, device float* y, constant long* n, const device uint* "
      "at,\n"
      "              uint3 p [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {\n" +
          body + "}\n",
      {});
  return load_cpu_kernel(*program, "k", {}, CodeMode::Vector);
}

bool jumps(const std::string& body) { return load(body)->jumps_along_rows; }
uint32_t columns(const std::string& body) { return load(body)->column_dimension; }

TEST(RowAccess, NeighboursSideBySide) {
  EXPECT_FALSE(jumps("uint i = p.y * size.x + p.x; y[i] = exp(x[i]);"));
  EXPECT_FALSE(jumps("uint i = p.y * 512 + p.x; y[i] = x[i - 1] + x[i + 512] + x[p.y];"));
  EXPECT_FALSE(jumps("((device float4*)y)[p.x] = ((const device float4*)x)[p.x + p.y * size.x];"));
  EXPECT_FALSE(jumps("for (uint k = 0; k < 9; ++k) y[p.x + k * size.x] = x[k];"));
}

TEST(RowAccess, NeighboursFarApart) {
  EXPECT_TRUE(jumps("y[p.x * size.y + p.y] = x[p.y * size.x + p.x];"));
  EXPECT_TRUE(jumps("y[p.y * size.x + p.x] = x[p.x * 1024 + p.y];"));
  EXPECT_TRUE(jumps("y[p.y * size.x + p.x] = x[p.x << 6];"));
  EXPECT_TRUE(jumps("y[p.y * size.x + p.x] = x[n[0] * p.x + n[1] * p.y];"));
  EXPECT_TRUE(jumps("y[p.y * size.x + p.x] = x[at[p.x]];"));
  EXPECT_TRUE(jumps("for (uint k = 0; k < 9; ++k) y[p.x * 32 + k] = x[k];"));
}

TEST(RowAccess, ACacheLineIsFar) {
  EXPECT_FALSE(jumps("y[p.x * 15] = 1;"));
  EXPECT_TRUE(jumps("y[p.x * 16] = 1;"));
}

TEST(RowAccess, Columns) {
  EXPECT_EQ(columns("y[p.x * size.y + p.y] = x[p.y * size.x + p.x];"), 1u);
  EXPECT_EQ(columns("y[p.y * size.x + p.x] = x[p.x * 1024 + p.y];"), 1u);
  EXPECT_EQ(columns("y[(p.y * size.x + p.x) * 64 + p.z] = x[p.z * 4096 + p.y * 64 + p.x];"), 2u);
  EXPECT_EQ(columns("y[p.y * size.x + p.x] = x[at[p.x] * 64 + p.y];"), 1u);
  EXPECT_EQ(columns("y[p.y * size.x + p.x] = x[p.y * size.x + p.x];"), 0u);
  EXPECT_EQ(columns("y[p.x * 4 + p.y] = 1;"), 0u);       // the row is close
  EXPECT_EQ(columns("y[p.x * 64 + p.y * 2] = 1;"), 0u);  // the column is not
  EXPECT_EQ(columns("((device char*)y)[p.x * 64 + p.y * 4] = 1;"), 0u);
}

}  // namespace
}  // namespace metal::cpu
