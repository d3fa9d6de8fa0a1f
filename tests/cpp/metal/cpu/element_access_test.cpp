// Which kernels access only their own elements, and what these are.
#include "metal/cpu/codegen/element_access.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metal/cpu/runtime/jit.h"

namespace metal::cpu {
namespace {

// One row for each buffer: "index:bytes", "index:shared n", with a * if it is written.
std::string accesses(const std::string& body, const std::string& more_arguments = "") {
  const auto program = compile(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "struct Pair { float a, b; };\n"
      "constant float table[4] = {1, 2, 3, 4};\n"
      "kernel void k(const device float* x, device half* y, device Pair* z, constant float& s,\n"
      "              device atomic_uint* count, uint i [[thread_position_in_grid]],\n"
      "              uint n [[threads_per_grid]]" +
          more_arguments + ") {\n" + body + "}\n",
      {});
  const auto kernel = load_cpu_kernel(*program, "k", {}, CodeMode::Vector);
  std::string text;
  for (const ElementAccess& access : kernel->element_accesses) {
    text += text.empty() ? "" : " ";
    text += std::to_string(access.buffer) + ":";
    text += access.bytes ? std::to_string(access.bytes) : "shared " + std::to_string(access.shared);
    if (access.written) text += "*";
  }
  return text;
}

TEST(ElementAccess, OwnElements) {
  EXPECT_EQ(accesses("y[i] = x[i];"), "0:4 1:2*");
  EXPECT_EQ(accesses("y[i] = exp(y[i]) + s;"), "1:2* 3:shared 4");
  EXPECT_EQ(accesses("y[i] = fast::exp(x[i]) + fast::log2(s);"), "0:4 1:2* 3:shared 4");
  EXPECT_EQ(accesses("if (x[i] > 0) y[i] = x[2];"), "");  // x in two ways
  EXPECT_EQ(accesses("if (i < n / 2) y[i] = x[2];"), "0:shared 12 1:2*");
  EXPECT_EQ(accesses("z[i].b = z[i].a;"), "2:8*");
  EXPECT_EQ(accesses("Pair pair = z[i]; z[i] = {pair.b, pair.a};"), "2:8*");
  EXPECT_EQ(accesses("((device float4*)z)[i] = ((const device float4*)x)[i];"), "0:16 2:16*");
  EXPECT_EQ(accesses("float own[3] = {1, 2, 3}; y[i] = own[i % 3] + table[i & 3];"), "1:2*");
  EXPECT_EQ(accesses("float sum = 0; for (uint k = 0; k < i; ++k) sum += k; y[i] = sum;"), "1:2*");
}

TEST(ElementAccess, OthersElements) {
  EXPECT_EQ(accesses("y[i] = x[i + 1];"), "");
  EXPECT_EQ(accesses("y[i + 1] = x[i];"), "");
  EXPECT_EQ(accesses("y[i] = x[i ^ 1];"), "");
  EXPECT_EQ(accesses("y[i] = x[n - 1 - i];"), "");
  EXPECT_EQ(accesses("y[2 * i] = x[i]; y[2 * i + 1] = x[i];"), "");
  EXPECT_EQ(accesses("y[j] = x[j];", ", ushort j [[thread_position_in_grid]]"),
            "");  // wraps around
  EXPECT_EQ(accesses("y[p] = x[p];", ", uint p [[thread_position_in_threadgroup]]"), "");
  EXPECT_EQ(accesses("for (uint k = i; k < 4 * n; k += n) y[k] = x[k];"), "");
  EXPECT_EQ(accesses("y[i] = x[uint(x[i])];"), "");
  EXPECT_EQ(accesses("y[0] = x[i];"), "");
  EXPECT_EQ(accesses("y[i] = ((const device float*)(x + 3 * i))[3];"), "");
  EXPECT_EQ(accesses("(i & 1 ? y : (device half*)z)[i] = x[i];"), "");
}

TEST(ElementAccess, ThreadsThatDependOnEachOther) {
  EXPECT_EQ(accesses("y[i] = simd_sum(x[i]);"), "");
  EXPECT_EQ(accesses("threadgroup float t[32]; t[p % 32] = x[i];\n"
                     "threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = t[31 - p % 32];",
                     ", uint p [[thread_position_in_threadgroup]]"),
            "");
  EXPECT_EQ(accesses("y[i] = x[i];\n"
                     "atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);"),
            "");
}

}  // namespace
}  // namespace metal::cpu
