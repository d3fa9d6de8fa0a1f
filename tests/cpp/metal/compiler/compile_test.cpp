// The front end: what compiles, what is described, and where diagnostics point.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "metal/compiler/compiler.h"

namespace metal {
namespace {

std::string error_of(const std::string& source, const CompileOptions& options = {}) {
  try {
    compile(source, options);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("mlx_compile_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_ / "include");
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
  }
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(Compile, DescribesArguments) {
  const auto program = compile(R"(
    #include <metal_stdlib>
    using namespace metal;
    struct Pair { float a; int b; };
    [[kernel, max_total_threads_per_threadgroup(256)]] void f(
        const device float* x [[buffer(2)]], device half4* out [[buffer(0)]], constant Pair& p,
        device atomic<float>* sums, threadgroup int* scratch [[threadgroup(1)]],
        uint3 position [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {})");
  const FunctionInfo* f = program->find("f");
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->arguments.size(), 7u);
  EXPECT_EQ(f->max_total_threads, 256u);
  EXPECT_EQ(f->arguments[0].index, 2u);
  EXPECT_FALSE(f->arguments[0].writable);
  EXPECT_EQ(f->arguments[0].element_type, "float");
  EXPECT_EQ(f->arguments[1].element_type, "half4");
  EXPECT_EQ(f->arguments[1].element_size, 8u);
  EXPECT_TRUE(f->arguments[1].writable);
  EXPECT_EQ(f->arguments[2].index, 1u);  // the first free one
  EXPECT_EQ(f->arguments[2].address_space, AddressSpace::Constant);
  EXPECT_EQ(f->arguments[2].element_type, "Pair");
  EXPECT_EQ(f->arguments[3].index, 3u);
  EXPECT_EQ(f->arguments[3].element_type, "atomic<float>");
  EXPECT_EQ(f->arguments[4].kind, ArgumentKind::ThreadgroupMemory);
  EXPECT_EQ(f->arguments[4].index, 1u);
  EXPECT_EQ(f->arguments[5].attribute, "thread_position_in_grid");
}

TEST(Compile, NamesExplicitInstantiations) {
  const auto program = compile(R"(
    #include <metal_stdlib>
    template <typename T> [[kernel]] void f(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }
    #define make(name, type) template [[host_name(name)]] [[kernel]] decltype(f<type>) f<type>;
    make("f_float", float) make("f_half", half)
    template [[host_name("f_" "int")]] [[kernel]] void f<int>(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]);)");
  EXPECT_EQ(program->functions.size(), 3u);
  for (const char* name : {"f_float", "f_half", "f_int"})
    EXPECT_NE(program->find(name), nullptr) << name;
  EXPECT_EQ(program->find("f"), nullptr);  // a template alone is no kernel
}

TEST(Compile, ErrorsPointAtTheUsersText) {
  CompileOptions options;
  options.path = "mine.metal";
  const std::string text =
      error_of("kernel void f(device float* x) {\n  x[0] = undefined_name;\n}\n", options);
  EXPECT_TRUE(
      contains(text, "mine.metal:2:10: error: use of undeclared identifier 'undefined_name'"))
      << text;
  EXPECT_TRUE(contains(text, "  x[0] = undefined_name;")) << text;
  EXPECT_TRUE(contains(text, "         ^")) << text;
}

TEST(Compile, LineMarkersMoveErrors) {
  const std::string text =
      error_of("#line 7 \"body\"\nkernel void f(device float* x) { x[0] = nothing; }\n");
  EXPECT_TRUE(contains(text, "body:7:")) << text;
}

TEST(Compile, ErrorsSpeakOfMetalsAddressSpaces) {
  const std::string text = error_of(
      "void g(threadgroup float* p) {}\n"
      "kernel void f(device float* x) { g(x); }\n");
  EXPECT_TRUE(contains(text, "address space 'device'")) << text;
  EXPECT_TRUE(contains(text, "address space 'threadgroup'")) << text;
  EXPECT_FALSE(contains(text, "__")) << text;
}

TEST(Compile, RefusesWhatMetalDoesNotHave) {
  EXPECT_TRUE(contains(error_of("kernel void f(device float* x) { double d = 1; x[0] = d; }"),
                       "'double' is not supported"));
  EXPECT_TRUE(contains(error_of("kernel void f(float x) {}"), "argument"));
  EXPECT_TRUE(contains(error_of("kernel int f(device int* x) { return 0; }"), "must return void"));
  EXPECT_TRUE(contains(error_of("kernel void f(device float* x [[buffer(31)]]) {}"), "below 31"));
  EXPECT_TRUE(contains(error_of("float g(float); kernel void f(device float* x) { x[0] = g(1); }"),
                       "not defined"));
}

// Matrix-multiply loaders and tiles, functors, function constants, unions, conversions: written as
// kernel libraries are.
TEST(Compile, TakesTheIdiomsOfKernelLibraries) {
  const std::string source =
#include "metal/compiler/idioms.inc"
      ;
  EXPECT_EQ(error_of(source), "");
}

TEST(Compile, HalfAndBfloatConvertExplicitly) {
  EXPECT_EQ(error_of(R"(
    #include <metal_stdlib>
    using namespace metal;
    template <typename T, typename U>
    [[kernel]] void copy(const device T* x [[buffer(0)]], device U* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
      y[i] = static_cast<U>(x[i]);
      y[i + 1] = U(x[i + 1]) + (U)x[i] + (U)(x[i]);
    }
    #define make(name, T, U) template [[host_name(name)]] [[kernel]] decltype(copy<T, U>) copy<T, U>;
    make("hb", half, bfloat) make("bh", bfloat, half) make("ff", float, float) make("il", int, long))"),
            "");
}

TEST(Compile, WarnsOfUnknownAttributes) {
  const auto program =
      compile("kernel void f(device float* x [[buffer(0)]]) { [[mystery]] x[0] = 1; }");
  EXPECT_TRUE(contains(program->warnings, "unknown attribute 'mystery' ignored"))
      << program->warnings;
}

TEST(Compile, IncludesReachDeclaredFoldersOnly) {
  TemporaryFolder folder;
  folder.write("include/declared.h", "constant float kValue = 3;\n");
  folder.write("beside.h", "constant float kBeside = 4;\n");
  const std::string source =
      "#include \"declared.h\"\nkernel void f(device float* x) { x[0] = kValue; }\n";
  EXPECT_TRUE(contains(error_of(source), "'declared.h' file not found"));
  CompileOptions options;
  options.include_directories = {folder.path("include")};
  EXPECT_EQ(error_of(source, options), "");
  EXPECT_TRUE(
      contains(error_of("#include \"" + folder.path("beside.h") + "\"\n"), "file not found"));
  EXPECT_TRUE(contains(error_of("#include \"/etc/passwd\"\n"), "file not found"));
  EXPECT_TRUE(
      contains(error_of("#include \"include/../../../etc/passwd\"\n", options), "file not found"));
  CompileOptions on_disk;
  on_disk.path = folder.path("kernel.metal");
  EXPECT_EQ(error_of("#include \"beside.h\"\nkernel void f(device float* x) { x[0] = kBeside; }\n",
                     on_disk),
            "");
}

TEST(Compile, OptionsDefineMacros) {
  CompileOptions options;
  options.macros = {{"VALUE", "5"}};
  options.math_mode = MathMode::Fast;
  options.language_version = 3 << 16 | 1;
  EXPECT_EQ(error_of("static_assert(VALUE == 5); static_assert(__FAST_MATH__); "
                     "static_assert(__METAL_VERSION__ == 310);",
                     options),
            "");
  EXPECT_EQ(error_of("#ifdef __FAST_MATH__\n#error fast\n#endif\n"), "");
}

TEST(Compile, HostileSourcesEndInErrors) {
  const std::string deep(100000, '(');
  EXPECT_NE(error_of("kernel void f(device int* x) { x[0] = " + deep + "1; }"), "");
  EXPECT_NE(
      error_of("template <int N> struct S { static constant constexpr int v = S<N + 1>::v; }; "
               "kernel void f(device int* x) { x[0] = S<0>::v; }"),
      "");
  EXPECT_NE(error_of("constexpr int loop() { for (;;) {} return 1; } static_assert(loop());"), "");
  EXPECT_NE(error_of(std::string("kernel void f(\0 device", 22)), "");
  EXPECT_NE(error_of("#include \"kernel.metal\"\n"), "");
  EXPECT_NE(error_of("[[ [[ [[ kernel threadgroup constant ]] ( < device"), "");
  std::string additions = "1";
  for (int i = 0; i < 200000; ++i) additions += "+x[0]";
  error_of("kernel void f(device int* x) { x[0] = " + additions +
           "; }");  // an error or not, but an end
}

TEST(Metallib, ReturnsWhatWasSaved) {
  const auto program = compile(
      "constant int N [[function_constant(3)]];\n"
      "kernel void f(device int* x [[buffer(1)]]) { x[0] = N; }\n"
      "kernel void g(device int* x) { x[0] = 1; }\n");
  const std::string bytes = save_library(*program);
  const auto loaded = load_library(bytes);
  ASSERT_EQ(loaded->functions.size(), 2u);
  const FunctionInfo* f = loaded->find("f");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->bitcode, program->find("f")->bitcode);
  EXPECT_EQ(f->arguments[0].index, 1u);
  ASSERT_EQ(f->constants.size(), 1u);
  EXPECT_EQ(f->constants[0].index, 3u);
  EXPECT_EQ(f->constants[0].type, ConstantType::Int);
}

TEST(Metallib, RefusesDamagedAndForeignFiles) {
  const std::string bytes = save_library(*compile("kernel void g(device int* x) { x[0] = 1; }"));
  EXPECT_THROW(load_library(""), std::runtime_error);
  EXPECT_THROW(load_library("MTLB of somebody else"), std::runtime_error);
  for (size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_THROW(load_library(bytes.substr(0, size)), std::runtime_error) << size;
  }
  for (size_t i = 9; i < bytes.size(); i += 131) {
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_THROW(load_library(damaged), std::runtime_error) << i;
  }
}

}  // namespace
}  // namespace metal
