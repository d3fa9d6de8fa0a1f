// The interface and the code of kernels in PTX.
#include "metal/cuda/code_generator.h"

#include <gtest/gtest.h>

namespace metal::cuda {
namespace {

PtxCode ptx_of(const std::string& source, const ConstantValues& constants = {}) {
  const auto program = compile("#include <metal_stdlib>\nusing namespace metal;\n" + source);
  return generate_ptx(program->functions.at(0), constants);
}

TEST(Ptx, DescribesParameters) {
  const PtxCode code = ptx_of(R"(
    kernel void f(threadgroup float* scratch [[threadgroup(1)]], device float* x [[buffer(4)]],
                  uint i [[thread_position_in_grid]], constant int& n [[buffer(2)]]) {
      x[i] = n + scratch[0];
    })");
  using Kind = Parameter::Kind;
  const Parameter expected[] = {
      {Kind::ThreadgroupOffset, 1, 0, 4}, {Kind::Buffer, 4, 8, 8},
      {Kind::Buffer, 2, 16, 8},           {Kind::ThreadsPerGrid, 0, 24, 4},
      {Kind::ThreadsPerGrid, 1, 28, 4},   {Kind::ThreadsPerGrid, 2, 32, 4}};
  ASSERT_EQ(code.interface.parameters.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(code.interface.parameters[i].kind, expected[i].kind) << i;
    EXPECT_EQ(code.interface.parameters[i].index, expected[i].index) << i;
    EXPECT_EQ(code.interface.parameters[i].offset, expected[i].offset) << i;
    EXPECT_EQ(code.interface.parameters[i].size, expected[i].size) << i;
  }
  EXPECT_EQ(code.interface.parameter_bytes, 36u);
  EXPECT_EQ(code.interface.entry, "f");
  EXPECT_EQ(code.interface.max_total_threads, 1024u);
  EXPECT_NE(code.text.find(".visible .entry f("), std::string::npos);
}

TEST(Ptx, CountsThreadgroupMemory) {
  const PtxCode code = ptx_of(R"(
    [[kernel, max_total_threads_per_threadgroup(96)]] void f(
        device float* x [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
      threadgroup float4 a[10];
      threadgroup uchar b[3];
      a[t] = x[t];
      b[t % 3] = uchar(t);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      x[t] = a[9 - t].x + b[0];
    })");
  EXPECT_GE(code.interface.static_threadgroup_memory, 163u);
  EXPECT_LE(code.interface.static_threadgroup_memory, 176u);
  EXPECT_EQ(code.interface.max_total_threads, 96u);
  EXPECT_NE(code.text.find(".maxntid 96"), std::string::npos);
}

PtxCode ptx_for(const std::string& source, const LaunchForm& form) {
  const auto program = compile("#include <metal_stdlib>\nusing namespace metal;\n" + source);
  return generate_ptx(program->functions.at(0), {}, kDefaultArchitecture, form);
}

constexpr const char* kVectors = R"(
    kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint3 i [[thread_position_in_grid]]) {
      const float4 v = *(device const float4*)(x + STEP * i.x);
      y[i.x] = v.x + v.y + v.z + v.w + float(i.z);
    })";

std::string vectors(const char* step) { return std::string("#define STEP ") + step + kVectors; }

TEST(Ptx, ReadsVectorsAtOnceWhereTheirAlignmentIsProvedOrTested) {
  const auto reads_elements = [](const char* step, bool aligned) {
    const std::string text = ptx_for(vectors(step), {.aligned = aligned}).text;
    EXPECT_NE(text.find("ld.global.v4.f32"), std::string::npos) << text;
    return text.find("ld.global.f32") != std::string::npos;
  };
  EXPECT_FALSE(reads_elements("4", true));
  EXPECT_TRUE(reads_elements("1", true));
  EXPECT_TRUE(reads_elements("4", false));
}

// All lanes of a warp leave the loop together, however its bound comes to the kernel.
TEST(Ptx, MultipliesMatricesInLoopsThatArgumentsBound) {
  constexpr const char* kSource = R"(
    #include <metal_simdgroup_matrix>
    struct Size { int rows, steps; };
    kernel void f(device const half* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant Size& size [[buffer(2)]]) {
      simdgroup_half8x8 a, b;
      simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (int i = 0; i < size.steps; ++i) {
        simdgroup_load(a, x + i * 64, 8);
        simdgroup_load(b, x + i * 64 * size.rows, 8);
        simdgroup_multiply_accumulate(sum, a, b, sum);
      }
      simdgroup_store(sum, y, 8);
    })";
  for (const uint32_t by_value : {0u, 0b100u}) {
    const std::string text = ptx_for(kSource, {.by_value = by_value}).text;
    EXPECT_NE(text.find("mma.sync"), std::string::npos) << text;
    EXPECT_EQ(text.find("shfl.sync"), std::string::npos) << text;
  }
}

// Positions that are summed up are positions in the grid if threadgroups have the right size.
TEST(Ptx, SumsUpPositions) {
  const auto made = [](const std::string& sum, bool summed) {
    return ptx_for(
        "kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],"
        "uint3 group [[threadgroup_position_in_grid]],"
        "uint3 size [[threads_per_threadgroup]],"
        "uint3 t [[thread_position_in_threadgroup]]) {"
        "const uint i = " +
            sum + "; y[i] = x[i] + 1; }",
        {.aligned = true, .several = true, .summed = summed});
  };
  for (const auto& [sum, size] : std::initializer_list<std::pair<const char*, uint32_t>>{
           {"group.x * size.x + t.x", KernelInterface::kAnySize},
           {"t.x + size.x * group.x", KernelInterface::kAnySize},
           {"group.x * 256 + t.x", 256},
           {"mad24(group.x, 96u, t.x)", 96},
           {"group.x * 96 + t.x", 96},
           {"group.x * 4096 + t.x", 0},
           {"group.y * size.x + t.x", 0},
           {"group.x * size.x + t.y", 0}}) {
    EXPECT_EQ(made(sum, true).interface.summed_size, size) << sum;
    EXPECT_EQ(made(sum, true).text.find("ld.global.v4.f32") != std::string::npos, size > 0) << sum;
    EXPECT_EQ(made(sum, false).interface.summed_size, size) << sum;
    EXPECT_EQ(made(sum, false).text.find("ld.global.v4.f32"), std::string::npos) << sum;
  }
}

TEST(Ptx, OneThreadRunsSeveral) {
  const auto made = [](const std::string& type, const std::string& statement) {
    return ptx_for("kernel void f(device const " + type + "* x [[buffer(0)]], device " + type +
                       "* y [[buffer(1)]], uint2 i [[thread_position_in_grid]], "
                       "uint2 n [[threads_per_grid]]) {" +
                       statement + "}",
                   {.aligned = true, .several = true});
  };
  const PtxCode halves = made("half", "y[i.x] = x[i.x] * half(i.y + n.x) + x[0];");
  EXPECT_EQ(halves.interface.at_once, 8u);
  EXPECT_NE(halves.text.find("ld.global.v4"), std::string::npos) << halves.text;
  EXPECT_NE(halves.text.find("st.global.v4"), std::string::npos) << halves.text;
  const PtxCode rows = made("float", "y[i.y * size_t(n.y) + i.x] = x[i.y * size_t(n.y) + i.x];");
  EXPECT_EQ(rows.interface.at_once, 4u);
  EXPECT_NE(rows.text.find("ld.global.v4"), std::string::npos) << rows.text;
  EXPECT_NE(rows.text.find("st.global.v4"), std::string::npos) << rows.text;
  const PtxCode back =
      made("float", "y[i.y * size_t(n.y) + i.x] = x[i.y * size_t(n.y) - long(i.x)];");
  EXPECT_EQ(back.interface.at_once, 4u);
  EXPECT_NE(back.text.find("ld.global.v4"), std::string::npos) << back.text;
  EXPECT_EQ(made("uchar", "y[i.x] = x[i.x] + 1;").interface.at_once, 8u);
  for (const char* type : {"half", "bfloat"})
    EXPECT_EQ(made(type, "y[i.x] = exp(x[i.x]);").interface.at_once, 8u);
  for (const char* statement :
       {"y[i.x] = x[2 * i.x];", "y[i.x] = 1; y[i.x] = x[i.x + uint(y[0])];",
        "y[x[i.x] < half(9)] = x[i.x];", "if (i.x < i.x * i.y) y[i.x] = x[i.x];",
        "y[i.x] = simd_sum(x[i.x]);", "if (i.x < 7) y[i.x] = x[i.x]; else y[i.x] = 1;",
        "y[i.x] = 1; if (i.x < n.y) y[i.x] = x[i.x];",
        "threadgroup half t[64]; t[i.x] = x[i.x]; y[i.x] = t[i.x];",
        "*(volatile device half*)(y + i.x) = x[i.x];",
        // Branches that use memory, and loops.
        "half a = x[i.x]; if (a > 1) a *= x[0]; y[i.x] = a;",
        "half a = x[i.x]; while (a > 1) a = sin(a) * a; y[i.x] = a;"})
    EXPECT_EQ(made("half", statement).interface.at_once, 1u) << statement;
  EXPECT_EQ(made("float", "y[i.x] = x[i.x];").interface.at_once, 4u);
  // One thread after the other runs branches, between reading and writing at once.
  for (const char* statement :
       {"y[i.x] = sin(x[i.x]);", "if (i.x < n.y) y[i.x] = cos(x[i.x]) + 1;",
        "float a = x[i.x]; if (a > 1) { a = exp(a); if (a < 9) a = log(a * i.y); } y[i.x] = a;"}) {
    const PtxCode branches = made("float", statement);
    EXPECT_EQ(branches.interface.at_once, 4u) << statement;
    EXPECT_NE(branches.text.find("ld.global.v4"), std::string::npos) << branches.text;
    EXPECT_NE(branches.text.find("st.global.v4"), std::string::npos) << branches.text;
  }
  EXPECT_EQ(made("float", "y[i.x] = as_type<float>(as_type<uint>(x[i.x]) & 7);").interface.at_once,
            4u);
  for (const char* statement :
       {"if (i.x < n.y) y[i.x] = x[i.x];", "if (i.x >= n.y) return; y[i.x] = x[i.x];",
        "if (int(i.x) >= int(n.y)) return; y[i.x] = x[i.x];",
        "const uint end = n.y * 3; half a = x[0]; if (i.x < end) y[i.x] = x[i.x] + a;"})
    EXPECT_EQ(made("half", statement).interface.at_once, 8u) << statement;
  for (const char* statement :
       {"y[ulong(n.y) * 3 + i.x] = x[ulong(n.x) * i.y + i.x];",
        "y[i.x] = x[long(n.y) - long(i.x)];", "y[long(i.x) - n.y] = (x + n.y)[i.x];",
        // Sums that may wrap around.
        "y[i.x] = x[i.x + 1];", "y[i.x] = x[ulong(i.x + n.y)];", "y[i.x] = x[n.y - 1 - i.x];",
        "y[i.y * n.y + i.x] = x[int(i.y * n.x) + int(i.x)];",
        "if (i.x >= n.x || i.y >= n.y) return; y[i.y * n.x + i.x] = x[i.y * n.x + i.x];"})
    EXPECT_EQ(made("half", statement).interface.at_once, 8u) << statement;
  for (const char* statement : {"y[i.x] = x[ulong(i.x) + i.x];", "y[i.x] = x[ulong(i.x) * 2];",
                                "y[i.x] = x[i.x + i.x % n.y];"})
    EXPECT_EQ(made("half", statement).interface.at_once, 1u) << statement;
  EXPECT_EQ(made("long", "y[i.x] = x[i.x];").interface.at_once, 2u);
}

TEST(Ptx, BoundsAndShapesOfBlocks) {
  EXPECT_NE(ptx_for(vectors("1"), {.most_threads = 256}).text.find(".maxntid 256"),
            std::string::npos);
  EXPECT_EQ(ptx_for(vectors("1"), {.most_threads = 256}).text.find(".minnctapersm"),
            std::string::npos);
  const std::string declared =
      "[[kernel, max_total_threads_per_threadgroup(512)]] void f("
      "device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) "
      "{ x[t] = 1; }";
  EXPECT_NE(ptx_for(declared, {.most_threads = 128}).text.find(".minnctapersm 4"),
            std::string::npos);
  const PtxCode flat = ptx_for(vectors("1"), {.flat = true});
  EXPECT_EQ(flat.interface.parameters.back().kind, Parameter::Kind::ThreadsPerThreadgroup);
  EXPECT_EQ(flat.text.find("%tid.z"), std::string::npos);
  EXPECT_NE(ptx_for(vectors("1"), {}).text.find("%tid.z"), std::string::npos);
  const PtxCode part = ptx_for(vectors("1"), {.in_parts = true});
  EXPECT_EQ(part.interface.parameters.back().kind, Parameter::Kind::FirstThreadgroup);
}

TEST(Ptx, ReadsValuesFromParameters) {
  const PtxCode code = ptx_for(R"(
    constant float table[4] = {1, 2, 3, 5};
    struct Sizes { int rows; float scale; long step; };
    kernel void f(constant const Sizes& sizes [[buffer(0)]], constant const int* shape [[buffer(1)]],
                  constant const float* weights [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      float sum = 0;
      for (int k = 0; k < sizes.rows; ++k) sum += shape[k] * weights[k];
      y[i * sizes.step] = sum * sizes.scale + table[i % 4];
    })",
                               {.aligned = true, .by_value = 0b11, .long_values = 0b10});
  using Kind = Parameter::Kind;
  const Parameter expected[] = {
      {Kind::Value, 0, 0, 64}, {Kind::Value, 1, 64, 256}, {Kind::Buffer, 2, 320, 8}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(code.interface.parameters[i].kind, expected[i].kind) << i;
    EXPECT_EQ(code.interface.parameters[i].offset, expected[i].offset) << i;
    EXPECT_EQ(code.interface.parameters[i].size, expected[i].size) << i;
  }
  EXPECT_NE(code.text.find(".param .align 16 .b8 f_param_0[64]"), std::string::npos) << code.text;
  EXPECT_NE(code.text.find(".param .align 16 .b8 f_param_1[256]"), std::string::npos);
  // The weights and the table lie in global memory, and nothing is copied.
  EXPECT_NE(code.text.find("ld.global"), std::string::npos) << code.text;
  for (const char* generic : {"ld.f32", "ld.u32", "ld.b32", ".local"})
    EXPECT_EQ(code.text.find(generic), std::string::npos) << code.text;
}

TEST(Ptx, SpecialisesByFunctionConstants) {
  const std::string source = R"(
    constant bool negative [[function_constant(7)]];
    constant float factor = negative ? -2.0f : 4.0f;
    kernel void f(device float* x [[buffer(0)]]) { x[0] = factor; })";
  const auto with = [&](uint64_t value) {
    return ptx_of(source, {{7, {ScalarType::Bool, value}}}).text;
  };
  EXPECT_NE(with(0).find("1082130432"), std::string::npos) << with(0);   // the bits of 4
  EXPECT_NE(with(1).find("-1073741824"), std::string::npos) << with(1);  // of -2
  EXPECT_THROW(ptx_of(source), std::invalid_argument);
}

TEST(Ptx, RefusesUnknownArchitectures) {
  const auto program = compile("kernel void f(device float* x) { x[0] = 1; }");
  for (const char* name : {"sm_70", "sm_9", "gfx90a", ""})
    EXPECT_THROW(generate_ptx(program->functions[0], {}, name), std::invalid_argument) << name;
}

}  // namespace
}  // namespace metal::cuda
