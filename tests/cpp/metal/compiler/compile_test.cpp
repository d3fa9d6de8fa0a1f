// The front end: what compiles, what is described, and where diagnostics point.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "metal/driver.h"

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

TEST(Compile, TakesExpressionsAsArgumentsOfAttributes) {
  const auto program = compile(R"(
    #include <metal_stdlib>
    constant constexpr int kSecond = 2;
    constexpr int twice(int x) { return 2 * x; }
    [[kernel, max_total_threads_per_threadgroup((twice(8) + 16) * (kSecond + 2))]] void f(
        device float* x [[buffer((kSecond) - 2)]], device int* y [[buffer(twice((1) + kSecond)), unknown((1), (2))]],
        device half* z [[unknown(((1))), buffer(4)]], uint i [[thread_position_in_grid]]) {})");
  const FunctionInfo* f = program->find("f");
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->arguments.size(), 4u);
  EXPECT_EQ(f->max_total_threads, 128u);
  EXPECT_EQ(f->arguments[0].index, 0u);
  EXPECT_EQ(f->arguments[1].index, 6u);
  EXPECT_EQ(f->arguments[2].index, 4u);
  EXPECT_EQ(f->arguments[3].attribute, "thread_position_in_grid");
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
  EXPECT_TRUE(contains(error_of("kernel void f(device int* x) { asm(\"int3\"); }"),
                       "1:32: error: 'asm' is not supported in Metal"));
  EXPECT_TRUE(contains(error_of("struct A { virtual int f() { return 1; } };"),
                       "virtual functions are not supported in Metal"));
  EXPECT_TRUE(contains(error_of("kernel void f(float x) {}"), "argument"));
  EXPECT_TRUE(contains(error_of("kernel int f(device int* x) { return 0; }"), "must return void"));
  EXPECT_TRUE(contains(error_of("kernel void f(device float* x [[buffer(31)]]) {}"), "below 31"));
  EXPECT_TRUE(contains(error_of("float g(float); kernel void f(device float* x) { x[0] = g(1); }"),
                       "not defined"));
  EXPECT_TRUE(
      contains(error_of("kernel void f(device int* x, uint2 i [[thread_index_in_threadgroup]]) {}"),
               "1:36: error: this input attribute has fewer components"));
  EXPECT_TRUE(contains(error_of("int calls; kernel void f(device int* x) { x[0] = ++calls; }"),
                       "1:5: error: a variable outside of functions must be in the constant"));
  EXPECT_TRUE(contains(error_of("kernel void f(device int* x) { static int n = 0; x[0] = ++n; }"),
                       "1:43: error: a static variable must be in the constant address space"));
}

// Code in the style of kernel libraries: loaders and tiles of matrix products, functors, function
// constants, unions, conversions.
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

// The arithmetic of x[0] * x[0] - x[1] after a pragma: each of its instructions, as text.
std::string arithmetic_after(const std::string& pragma, const std::string& type = "float") {
  const auto program = compile("kernel void f(device " + type + "* y, const device " + type +
                               "* x) {\n" + pragma + "\ny[0] = x[0] * x[0] - x[1];\n}\n");
  std::istringstream lines(emit(*program, "llvm"));
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    for (const char* operation :
         {" fmul ", " fsub ", " call float @llvm.fmuladd", " call <4 x float> @llvm.fmuladd"}) {
      if (const size_t at = line.find(operation); at != std::string::npos)
        found += line.substr(at, line.find('%', at) - at) + ";";
    }
  }
  return found;
}

TEST(Compile, PragmasSetTheArithmeticOfABlock) {
  const std::string fused = " call float @llvm.fmuladd.f32(float ;";
  EXPECT_EQ(arithmetic_after(""), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(off)"), " fmul float ; fsub float ;");
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(on)"), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(fast)"),
            " fmul contract float ; fsub contract float ;");
  EXPECT_EQ(arithmetic_after("#pragma METAL fp math_mode(safe)"), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL fp math_mode(relaxed)"),
            " fmul reassoc arcp contract float ; fsub reassoc arcp contract float ;");
  EXPECT_EQ(arithmetic_after("#pragma METAL fp math_mode(fast)"),
            " fmul fast float ; fsub fast float ;");
  EXPECT_EQ(
      arithmetic_after("#pragma METAL fp math_mode(fast) contract(off)"),
      " fmul reassoc nnan ninf nsz arcp afn float ; fsub reassoc nnan ninf nsz arcp afn float ;");
  EXPECT_EQ(arithmetic_after("{\n#pragma METAL fp math_mode(fast)\n}"), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL internals : enable"), fused);
}

TEST(Compile, VectorsAreContractedAsScalarsAre) {
  const std::string fused = " call <4 x float> @llvm.fmuladd.v4f32(<4 x float> ;";
  EXPECT_EQ(arithmetic_after("", "float4"), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(off)", "float4"),
            " fmul <4 x float> ; fsub <4 x float> ;");
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(on)", "float4"), fused);
  EXPECT_EQ(arithmetic_after("#pragma METAL fp contract(fast)", "float4"), fused);
  // Halves round twice, as scalars do (define_arithmetic.cpp).
  EXPECT_EQ(arithmetic_after("", "half4"), " fmul <4 x half> ; fsub <4 x half> ;");
}

TEST(Compile, PragmasOfArithmeticElsewhereAreIgnoredWithAWarning) {
  const auto misplaced = compile(
      "#pragma METAL fp math_mode(relaxed)\n"
      "namespace n {\n#pragma METAL fp contract(on)\n}\n"
      "kernel void f(device float* y) {\n  y[0] = 1;\n  #pragma METAL fp contract(off)\n}\n");
  EXPECT_TRUE(contains(misplaced->warnings, ":7:3: warning: pragma ignored: it belongs"))
      << misplaced->warnings;
  EXPECT_EQ(misplaced->warnings.find("warning"), misplaced->warnings.rfind("warning"));
  const auto wrong = compile("#pragma METAL fp speed(high)\nkernel void f(device float* y) {}\n");
  EXPECT_TRUE(
      contains(wrong->warnings, ":1:1: warning: pragma ignored: expected 'math_mode(safe)'"))
      << wrong->warnings;
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

// Sources that expand to more than any machine has memory and time for.
TEST(Compile, SourcesThatExplodeEndInErrors) {
  std::string laughs = "#define A0 1,1,1,1,1,1,1,1,1,1\n";
  std::string inlined = "float f0(float x) { return x; }\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = std::to_string(i - 1), now = std::to_string(i);
    laughs += "#define A" + now;
    for (int k = 0; k < 10; ++k) laughs += (k ? ", A" : " A") + before;
    laughs += "\n";
    inlined += "float f" + now + "(float x) { return f" + before + "(x) * f" + before + "(-x); }\n";
  }
  laughs += "constant int x[] = {A29};\n";
  EXPECT_TRUE(contains(error_of(laughs), "more than 2 million tokens"));
  EXPECT_TRUE(contains(error_of(inlined + "kernel void f(device float* x) { x[0] = f29(x[1]); }"),
                       "is too large with all that it calls"));
  EXPECT_TRUE(contains(error_of("#if __INCLUDE_LEVEL__ < 60\n#include \"kernel.metal\"\n"
                                "#include \"kernel.metal\"\n#endif\n"),
                       "kernel.metal:1:1: fatal error: this source is too much for the compiler"));
  EXPECT_NE(
      error_of("template <int N, long K> struct T { T<N - 1, 2 * K> a; T<N - 1, 2 * K + 1> b; };\n"
               "template <long K> struct T<0, K> { int x; };\n"
               "kernel void f(device int* o) { o[0] = sizeof(T<40, 0>); }\n"),
      "");
  EXPECT_EQ(error_of("kernel void f(device int* x) { x[0] = 1; }"), "");  // as before
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
  EXPECT_EQ(f->constants[0].type, ScalarType::Int);
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

// Opens the bytes as a file and reads the function. Returns the error, if there is one.
std::string error_of_library(const TemporaryFolder& folder, const std::string& bytes) {
  std::ofstream(folder.path("x.metallib"), std::ios::binary) << bytes;
  try {
    const auto library = open_library(folder.path("x.metallib"));
    EXPECT_EQ(library->find("nothing"), nullptr);
    library->find("g");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Metallib, FilesAreReadFunctionByFunction) {
  const TemporaryFolder folder;
  const auto program = compile(
      "kernel void f(device int* x) { x[0] = 1; }\n"
      "kernel void g(device int* x) { x[0] = 2; }\n");
  const std::string bytes = save_library(*program);
  std::ofstream(folder.path("two.metallib"), std::ios::binary) << bytes;
  const auto library = open_library(folder.path("two.metallib"));
  EXPECT_EQ(library->names(), (std::vector<std::string>{"f", "g"}));
  EXPECT_TRUE(library->contains("g"));
  EXPECT_EQ(library->find("g")->bitcode, program->find("g")->bitcode);
  EXPECT_EQ(library->find("g"), library->find("g"));
  EXPECT_EQ(library->find("h"), nullptr);

  std::string damaged = bytes;
  damaged.back() ^= 1;  // g's record is the last
  EXPECT_EQ(error_of_library(folder, damaged),
            "damaged .metallib: the checksum of function g does not match");
  EXPECT_NE(open_library(folder.path("x.metallib"))->find("f"), nullptr);
  std::filesystem::resize_file(folder.path("two.metallib"), 20);  // while it is open
  EXPECT_THROW(library->find("f"), std::runtime_error);
}

TEST(Metallib, RefusesDamagedAndForeignFilesOnDisk) {
  const TemporaryFolder folder;
  const std::string bytes = save_library(*compile("kernel void g(device int* x) { x[0] = 1; }"));
  EXPECT_EQ(error_of_library(folder, bytes), "");
  EXPECT_TRUE(contains(error_of_library(folder, ""), "not a .metallib"));
  EXPECT_TRUE(contains(error_of_library(folder, "MTLB of somebody else"), "not a .metallib"));
  for (size_t size = 8; size < bytes.size(); size += 97) {
    EXPECT_TRUE(contains(error_of_library(folder, bytes.substr(0, size)), "damaged .metallib"))
        << size;
  }
  for (size_t i = 9; i < bytes.size(); i += 131) {
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_TRUE(contains(error_of_library(folder, damaged), "damaged .metallib")) << i;
  }
  try {
    open_library(folder.path("missing.metallib"));
    ADD_FAILURE() << "a missing file was opened";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(contains(error.what(), "missing.metallib\": No such file")) << error.what();
  }
  EXPECT_THROW(open_library(folder.path()), std::runtime_error);
}

}  // namespace
}  // namespace metal
