// From MSL source to results through the host API.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/native_kernel.h"

namespace metal::test {
namespace {

class LibraryTest : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());

  NS::SharedPtr<MTL::Library> compile(const char* source, MTL::CompileOptions* options = nullptr) {
    NS::Error* error = nullptr;
    auto library = NS::TransferPtr(device()->newLibrary(string(source), options, &error));
    EXPECT_EQ(text(error), "");
    return library;
  }

  NS::SharedPtr<MTL::ComputePipelineState> load(MTL::Library* library, const char* name,
                                                MTL::FunctionConstantValues* constants = nullptr) {
    NS::Error* error = nullptr;
    auto function =
        NS::TransferPtr(constants ? library->newFunction(string(name), constants, &error)
                                  : library->newFunction(string(name)));
    EXPECT_EQ(text(error), "");
    auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
    EXPECT_EQ(text(error), "");
    return state;
  }

  static std::string text(NS::Error* error) {
    return error ? error->localizedDescription()->utf8String() : "";
  }
};

constexpr const char* kScale = R"(
#include <metal_stdlib>
using namespace metal;
constant float factor [[function_constant(3)]];
constant bool negate [[function_constant(1)]];
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] *= negate ? -factor : factor;
}
[[kernel, max_total_threads_per_threadgroup(128)]]
void reverse(device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
             uint n [[threads_per_threadgroup]]) {
  threadgroup float tmp[128];
  tmp[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = tmp[n - 1 - i];
}
)";

TEST_F(LibraryTest, FunctionsAndPipelines) {
  auto library = compile(kScale);
  ASSERT_TRUE(library);
  NS::Array* names = library->functionNames();
  ASSERT_EQ(names->count(), 2u);
  EXPECT_EQ(library->newFunction(string("absent")), nullptr);
  auto state = load(library.get(), "reverse");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->maxTotalThreadsPerThreadgroup(), 128u);
  EXPECT_EQ(state->threadExecutionWidth(), 32u);
  EXPECT_EQ(state->staticThreadgroupMemoryLength(), 512u);
  EXPECT_STREQ(state->label()->utf8String(), "reverse");
  Data<float> x(100);
  for (int i = 0; i < 100; ++i) x[i] = static_cast<float>(i);
  ASSERT_EQ(run(state.get(), {x}, {100, 1, 1}, {100, 1, 1}), "");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[i], static_cast<float>(99 - i));
}

TEST_F(LibraryTest, HeadersThatChange) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("mlx_headers_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->addIncludeDirectory(string(folder.c_str()));
  for (int factor : {3, 5, 3, 7}) {
    std::ofstream(folder / "factor.h") << "constant float factor = " << factor << ";\n";
    auto library = compile(
        "#include \"factor.h\"\nkernel void scale(device float* x, uint i "
        "[[thread_position_in_grid]]) { x[i] *= factor; }",
        options.get());
    ASSERT_TRUE(library);
    Data<float> x(40);
    for (int i = 0; i < 40; ++i) x[i] = static_cast<float>(i);
    ASSERT_EQ(run(load(library.get(), "scale").get(), {x}, {40, 1, 1}, {32, 1, 1}), "");
    for (int i = 0; i < 40; ++i) EXPECT_EQ(x[i], static_cast<float>(factor * i));
  }
  std::filesystem::remove_all(folder);
}

TEST_F(LibraryTest, FunctionConstants) {
  auto library = compile(kScale);
  ASSERT_TRUE(library);
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  float factor = 3;
  bool negate = true;
  constants->setConstantValue(&factor, MTL::DataTypeFloat, NS::UInteger{3});
  constants->setConstantValue(&negate, MTL::DataTypeBool, string("negate"));
  auto state = load(library.get(), "scale", constants.get());
  ASSERT_TRUE(state);
  Data<float> x(40);
  for (int i = 0; i < 40; ++i) x[i] = 2;
  ASSERT_EQ(run(state.get(), {x}, {40, 1, 1}, {32, 1, 1}), "");
  for (int i = 0; i < 40; ++i) EXPECT_EQ(x[i], -6.0f);
}

TEST_F(LibraryTest, FunctionConstantsInARow) {
  auto library = compile(R"(
#include <metal_stdlib>
using namespace metal;
constant short3 a [[function_constant(4)]];
constant short3 b [[function_constant(5)]];
kernel void f(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = i < 3 ? a[i] : b[i - 3];
}
)");
  ASSERT_TRUE(library);
  const int16_t values[] = {1, 2, 3, -1, 4, 5, 6, -1};  // a vector of three takes the place of four
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  constants->setConstantValues(values, MTL::DataTypeShort3, NS::Range(4, 2));
  auto state = load(library.get(), "f", constants.get());
  ASSERT_TRUE(state);
  Data<int> x(6);
  ASSERT_EQ(run(state.get(), {x}, {6, 1, 1}, {6, 1, 1}), "");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(x[i], i + 1);
}

constexpr const char* kVectorConstants = R"(
#include <metal_stdlib>
using namespace metal;
constant float4 factors [[function_constant(0)]];
constant half3 small [[function_constant(1)]];
constant bool2 flags [[function_constant(2)]];
constant ulong2 wide [[function_constant(3)]];
constant uchar3 bytes [[function_constant(4)]];
constant float4 doubled = factors * 2;
constant int3 given = is_function_constant_defined(bytes) ? int3(bytes) : int3(-1, -2, -3);
kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = doubled[i % 4] + small[i % 3] * 100 + flags[i % 2] * 1000 + (wide[i % 2] >> 32) * 1e4f +
         given[i % 3] * 1e5f;
}
)";

TEST_F(LibraryTest, FunctionConstantsThatAreVectors) {
  auto library = compile(kVectorConstants);
  ASSERT_TRUE(library);
  const float factors[] = {1, 2, 3, 4};
  const uint16_t small[] = {0x3c00, 0x4000, 0x4200};  // 1, 2, 3
  const bool flags[] = {true, false};
  const uint64_t wide[] = {uint64_t{5} << 32, uint64_t{6} << 32};
  const uint8_t bytes[] = {7, 8, 9};
  for (const bool with_bytes : {true, false}) {
    auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    constants->setConstantValue(factors, MTL::DataTypeFloat4, NS::UInteger{0});
    constants->setConstantValue(small, MTL::DataTypeHalf3, NS::UInteger{1});
    constants->setConstantValue(flags, MTL::DataTypeBool2, string("flags"));
    constants->setConstantValue(wide, MTL::DataTypeULong2, NS::UInteger{3});
    if (with_bytes) constants->setConstantValue(bytes, MTL::DataTypeUChar3, NS::UInteger{4});
    auto state = load(library.get(), "f", constants.get());
    ASSERT_TRUE(state);
    Data<float> x(24);
    ASSERT_EQ(run(state.get(), {x}, {24, 1, 1}, {24, 1, 1}), "");
    for (int i = 0; i < 24; ++i) {
      const int given = with_bytes ? bytes[i % 3] : -1 - i % 3;
      const int sum = 2 * (i % 4 + 1) + (i % 3 + 1) * 100 + (i % 2 == 0) * 1000 +
                      (5 + i % 2) * 10000 + given * 100000;
      EXPECT_EQ(x[i], static_cast<float>(sum)) << i;
    }
  }
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  constants->setConstantValue(factors, MTL::DataTypeFloat3, NS::UInteger{0});
  NS::Error* error = nullptr;
  EXPECT_EQ(library->newFunction(string("f"), constants.get(), &error), nullptr);
  EXPECT_NE(text(error).find("\"factors\" (index 0) has type float4"), std::string::npos)
      << text(error);
}

TEST_F(LibraryTest, FunctionConstantErrors) {
  auto library = compile(kScale);
  ASSERT_TRUE(library);
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  int factor = 3;
  constants->setConstantValue(&factor, MTL::DataTypeInt, NS::UInteger{3});
  NS::Error* error = nullptr;
  EXPECT_EQ(library->newFunction(string("scale"), constants.get(), &error), nullptr);
  EXPECT_NE(text(error).find("\"factor\" (index 3) has type float"), std::string::npos)
      << text(error);
  constants->reset();
  auto bare = NS::TransferPtr(library->newFunction(string("scale")));
  EXPECT_EQ(device()->newComputePipelineState(bare.get(), &error), nullptr);
  EXPECT_NE(text(error).find("needs a value"), std::string::npos) << text(error);
  EXPECT_EQ(library->newFunction(string("absent"), constants.get(), &error), nullptr);
  EXPECT_NE(text(error).find("\"absent\""), std::string::npos) << text(error);
}

TEST_F(LibraryTest, CompileErrorsComeAsText) {
  NS::Error* error = nullptr;
  const char* source = "kernel void f(device float* x [[buffer(0)]]) {\n  x[0] = oops;\n}\n";
  EXPECT_EQ(device()->newLibrary(string(source), nullptr, &error), nullptr);
  EXPECT_NE(text(error).find("oops"), std::string::npos) << text(error);
  EXPECT_NE(text(error).find(":2:10:"), std::string::npos) << text(error);
}

TEST_F(LibraryTest, Options) {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  const NS::Object* keys[] = {string("VALUE"), string("TYPE")};
  const NS::Object* values[] = {NS::Number::number(7), string("int")};
  options->setPreprocessorMacros(NS::Dictionary::dictionary(values, keys, 2));
  options->setMathMode(MTL::MathModeFast);
  options->setLanguageVersion(MTL::LanguageVersion3_1);
  auto library = compile(R"(
kernel void f(device TYPE* x [[buffer(0)]]) {
  x[0] = VALUE;
  x[1] = __METAL_VERSION__;
#ifdef __FAST_MATH__
  x[2] = 1;
#endif
})",
                         options.get());
  ASSERT_TRUE(library);
  Data<int> x(3);
  ASSERT_EQ(run(load(library.get(), "f").get(), {x}, {1, 1, 1}, {1, 1, 1}), "");
  EXPECT_EQ(x[0], 7);
  EXPECT_EQ(x[1], 310);
  EXPECT_EQ(x[2], 1);
}

TEST_F(LibraryTest, FromFile) {
  auto path = std::filesystem::temp_directory_path() / ("library_test_" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << save_library(*metal::compile(kScale));
  NS::Error* error = nullptr;
  auto* url = NS::URL::fileURLWithPath(string(path.c_str()));
  auto library = NS::TransferPtr(device()->newLibrary(url, &error));
  std::filesystem::remove(path);
  ASSERT_TRUE(library) << text(error);
  EXPECT_EQ(library->functionNames()->count(), 2u);
  Data<float> x(2);
  x[1] = 5;
  ASSERT_EQ(run(load(library.get(), "reverse").get(), {x}, {2, 1, 1}, {2, 1, 1}), "");
  EXPECT_EQ(x[0], 5.0f);
}

TEST_F(LibraryTest, AdditionsAreSeenThroughOtherArguments) {
  auto library = compile(R"(
#include <metal_stdlib>
using namespace metal;
kernel void add(device atomic<float>* sums [[buffer(0)]], const device float* seen [[buffer(1)]],
                device float* out [[buffer(2)]], uint i [[thread_position_in_grid]],
                uint group [[threadgroup_position_in_grid]]) {
  atomic_fetch_add_explicit(&sums[i], 1.0f, memory_order_relaxed);
  atomic_fetch_add_explicit(&sums[4096 + group], 1.0f, memory_order_relaxed);
  out[i] = seen[i] + 1000.0f * seen[4096 + group];
})");
  ASSERT_TRUE(library);
  Data<float> sums(4096 + 64), out(4096);
  ASSERT_EQ(run(load(library.get(), "add").get(), {sums, sums, out}, {4096, 1, 1}, {64, 1, 1}), "");
  for (uint32_t i = 0; i < 4096; ++i) {
    EXPECT_EQ(sums[i], 1.0f) << i;
    // Some threads of the threadgroup have added, this one among them.
    EXPECT_EQ(static_cast<int>(out[i]) % 1000, 1) << i;
    EXPECT_GE(out[i], 1001.0f) << i;
  }
  for (uint32_t group = 0; group < 64; ++group) EXPECT_EQ(sums[4096 + group], 64.0f) << group;
}

TEST_F(LibraryTest, UnboundArgumentsAreNamed) {
  auto library = compile(kScale);
  ASSERT_TRUE(library);
  EXPECT_EQ(run(load(library.get(), "reverse").get(), {}, {2, 1, 1}, {2, 1, 1}),
            "[reverse] No buffer is bound at index 0 (\"x\")");
}

// The error lists the functions, the nearest name first.
TEST_F(LibraryTest, MissingFunctionsListTheOthers) {
  auto error_of = [](MTL::Library* library, const char* name) {
    NS::Error* error = nullptr;
    auto function = NS::TransferPtr(library->newFunction(string(name), nullptr, &error));
    EXPECT_FALSE(function);
    return text(error);
  };
  auto library = compile(kScale);
  ASSERT_TRUE(library);
  EXPECT_EQ(
      error_of(library.get(), "reversed"),
      "no kernel named \"reversed\" in this library; did you mean \"reverse\"? It has reverse "
      "and scale");
  EXPECT_EQ(error_of(library.get(), "other"),
            "no kernel named \"other\" in this library. It has reverse and scale");
  auto empty = compile("int nothing() { return 1; }");
  ASSERT_TRUE(empty);
  EXPECT_EQ(error_of(empty.get(), "f"), "no kernel named \"f\" in this library, which has none");

  std::string source;
  for (int i = 10; i < 40; ++i)
    source += "kernel void step_" + std::to_string(i) + "(device float* x) { x[0] = 1; }\n";
  const auto path = std::filesystem::temp_directory_path() /
                    ("missing_functions_" + std::to_string(getpid()) + ".metallib");
  std::ofstream(path, std::ios::binary) << save_library(*metal::compile(source));
  NS::Error* error = nullptr;
  auto file = NS::TransferPtr(device()->newLibrary(string(path.c_str()), &error));
  std::filesystem::remove(path);
  ASSERT_TRUE(file) << text(error);
  EXPECT_EQ(error_of(file.get(), "step__17"),
            "no kernel named \"step__17\" in the library \"" + path.string() +
                "\"; did you mean \"step_17\"? It has step_17, step_10, step_11, step_12, step_13, "
                "step_14, step_15, step_16, step_18, step_19, step_21, step_27 and 18 more");
}

// Uses this form of code, which is chosen when a kernel is loaded.
struct Form {
  explicit Form(bool reference) {
    if (reference) setenv("MLX_CPU_REFERENCE", "1", 1);
  }
  ~Form() { unsetenv("MLX_CPU_REFERENCE"); }
};

// The error for each form of code says what happened, at which buffer, and in which threadgroup or
// thread if that is known.
TEST_F(LibraryTest, FaultsOfEveryForm) {
  auto library = compile(R"(
#include <metal_stdlib>
using namespace metal;
kernel void plain(device float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  const device long* order [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  float value = i;
  if (i == order[0]) {
    if (order[2]) x[order[1]] = value;
    else value = x[order[1]];
  }
  y[i] = value;
}
kernel void waiting(device float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    const device long* order [[buffer(2)]],
                    uint i [[thread_position_in_grid]], uint j [[thread_index_in_threadgroup]]) {
  threadgroup float values[64];
  values[j] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float value = values[63 - j];
  if (i == order[0]) {
    if (order[2]) x[order[1]] = value;
    else value = x[order[1]];
  }
  y[i] = value;
}
)");
  ASSERT_TRUE(library);
  // The distance exceeds every margin; a foreign buffer has none.
  constexpr size_t kSide = size_t{64} << 20, kBytes = 4096;
  char* memory = static_cast<char*>(
      mmap(nullptr, 2 * kSide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_EQ(mprotect(memory + kSide, kBytes, PROT_READ | PROT_WRITE), 0);
  auto x = NS::TransferPtr(
      device()->newBuffer(memory + kSide, kBytes, MTL::ResourceStorageModeShared, nullptr));
  Data<int64_t> order(3);
  for (const char* name : {"plain", "waiting"}) {
    for (bool reference : {false, true}) {
      const Form form(reference);
      auto state = load(library.get(), name);
      for (size_t grid : {size_t{256}, size_t{1} << 17}) {
        Data<float> y(grid);
        for (bool write : {false, true}) {
          for (int64_t index : {int64_t{-3000}, int64_t{5000}}) {
            order[0] = static_cast<int64_t>(grid) - 61;
            order[1] = index;
            order[2] = write;
            const std::string error =
                run(state.get(), {x.get(), y, order}, {grid, 1, 1}, {64, 1, 1});
            auto expect = [&](const std::string& part) {
              EXPECT_NE(error.find(part), std::string::npos) << error << "\nlacks " << part;
            };
            expect("[" + std::string(name) + "] The kernel was stopped: invalid memory access");
            expect(write ? "access (write) at" : "access (read) at");
            expect(index < 0 ? ", 12000 bytes before the start of \"x\" (4096 bytes, "
                             : ", 15904 bytes behind the end of \"x\" (4096 bytes, ");
            expect(write ? "its nearest writable buffer), in " : "its nearest buffer), in ");
            const std::string last = std::to_string(grid / 64 - 1);
            if (reference) {
              expect("in threadgroup (" + last + ", 0, 0), thread (3, 0, 0), which is thread (" +
                     std::to_string(order[0]) + ", 0, 0) of the grid");
            } else {
              expect(last + ", 0, 0); MLX_CPU_REFERENCE=1 finds the thread");
            }
          }
        }
      }
    }
  }
  munmap(memory, 2 * kSide);
}

// Errors name a kernel by its label.
TEST_F(LibraryTest, LabelsNameKernels) {
  auto library = compile("kernel void f(device int* x [[buffer(0)]]) { __builtin_trap(); }");
  ASSERT_TRUE(library);
  auto function = NS::TransferPtr(library->newFunction(string("f")));
  EXPECT_STREQ(function->label()->utf8String(), "f");
  function->setLabel(string("the user's"));
  EXPECT_STREQ(function->name()->utf8String(), "f");
  NS::Error* error = nullptr;
  auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
  ASSERT_TRUE(state) << text(error);
  EXPECT_STREQ(state->label()->utf8String(), "the user's");
  Data<int> x(1);
  EXPECT_EQ(run(state.get(), {x}, {1, 1, 1}, {1, 1, 1}).find("[the user's] The kernel was stopped"),
            0u);
  EXPECT_EQ(run(state.get(), {}, {1, 1, 1}, {1, 1, 1}),
            "[the user's] No buffer is bound at index 0 (\"x\")");
  function->setLabel(nullptr);
  EXPECT_STREQ(function->label()->utf8String(), "f");
}

// A fault in code that the compiler has made also raises an error.
TEST_F(LibraryTest, FaultsOfCompiledKernels) {
  auto library = compile(R"(
#include <metal_stdlib>
using namespace metal;
kernel void wild(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[long(i) * 1000000000000l + 500000000000l] = 1;
}
kernel void endless(device volatile int* x [[buffer(0)]]) {
  while (x[0] == 0) {
  }
}
int deeper(device volatile int* x, int depth) {
  int frame[256];
  for (int i = 0; i < 256; ++i) frame[i] = x[i % 4] + depth;
  if (x[0] == 0) frame[3] += deeper(x, depth + 1);
  return frame[depth % 256] + frame[3];
}
kernel void recursive(device volatile int* x [[buffer(0)]]) { x[1] = deeper(x, 0); }
)");
  ASSERT_TRUE(library);
  Data<int> x(64);
  std::string error = run(load(library.get(), "wild").get(), {x}, {64, 1, 1}, {32, 1, 1});
  EXPECT_NE(error.find("[wild] The kernel was stopped: invalid memory access"), std::string::npos)
      << error;
  error = run(load(library.get(), "recursive").get(), {x}, {64, 1, 1}, {32, 1, 1});
  EXPECT_NE(error.find("[recursive] The kernel was stopped: stack overflow"), std::string::npos)
      << error;
  setenv("MLX_KERNEL_TIME_LIMIT", "0.05", 1);
  error = run(load(library.get(), "endless").get(), {x}, {64, 1, 1}, {32, 1, 1});
  unsetenv("MLX_KERNEL_TIME_LIMIT");
  EXPECT_NE(error.find("[endless] The kernel ran longer"), std::string::npos) << error;
}

}  // namespace
}  // namespace metal::test
