// Which kernels access memory far apart along a row of threads.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "metal/compiler_library.h"
#include "metal/cpu/codegen/code_generator.h"
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

GangTraits gangs(const std::string& body) {
  const auto program = compile(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void k(const device float* x, device float* y, constant uint* n,\n"
      "              uint2 in [[thread_position_in_threadgroup]],\n"
      "              uint i [[thread_index_in_threadgroup]],\n"
      "              uint2 group [[threadgroup_position_in_grid]]) {\n"
      "  threadgroup float t[32][32];\n" +
          body + "}\n",
      {});
  return compiler_library().find_traits(program->get("k"), {}).gangs;
}

// The tile makes code for one size of the threadgroup.
uint32_t widest(const std::string& row, const std::string& column) {
  return gangs("uint r = " + row + ", c = " + column +
               "; t[r][c] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);"
               "float sum = 0; for (uint k = 0; k < n[0]; ++k) sum += t[r][k] * t[k][c];"
               "y[i] = sum;")
      .widest_waiting;
}

TEST(RowAccess, DividedRows) {
  EXPECT_EQ(widest("i / 8", "i % 8"), 8u);
  EXPECT_EQ(widest("in.x >> 4", "in.x & 15"), 16u);
  EXPECT_EQ(widest("i / 32", "i % 32"), kSimdWidth);
  EXPECT_EQ(widest("i / 4", "i % 4"), kSimdWidth);  // shorter than a gang
  EXPECT_EQ(widest("i / 12", "i % 12"), kSimdWidth);
  EXPECT_EQ(widest("in.y / 8", "in.x"), kSimdWidth);
}

uint32_t dimension(const std::string& to) {
  return gangs("t[in.y][in.x] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); y[" + to +
               "] = t[in.x][in.y];")
      .group_dimension;
}

TEST(RowAccess, GroupsThatWriteColumns) {
  EXPECT_EQ(dimension("(group.x * 8 + in.y) * 1024 + group.y * 8 + in.x"), 1u);
  EXPECT_EQ(dimension("(group.x * 8 + in.y) * n[0] + group.y * 8 + in.x"), 1u);
  EXPECT_EQ(dimension("(group.y * 8 + in.y) * 1024 + group.x * 8 + in.x"), 0u);
  EXPECT_EQ(dimension("(group.y * 8 + in.y) * n[0] + group.x * 8 + in.x"), 0u);
  EXPECT_EQ(dimension("(group.x * 32 + in.y) * 1024 + group.y * 32 + in.x"), 0u);  // whole lines
}

}  // namespace
}  // namespace metal::cpu
