// What the compiler says of a source that Apple's refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "metal/compiler/compiler.h"

namespace metal {
namespace {

constexpr const char* kAmbiguous =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void k(device float* o [[buffer(0)]]) {\n"
    "\to[0] = max(o[1], 0);\n"
    "\to[1] = max(o[1], 0);\n"
    "}\n";

std::shared_ptr<Program> compile_for_apple(const std::string& source, CompileOptions options = {}) {
  options.for_apple = true;
  return compile(source, options);
}

TEST(AppleCheck, ReportsHaveThePlaceAndAreWarnings) {
  const auto program = compile_for_apple(kAmbiguous);
  ASSERT_EQ(program->apple_reports.size(), 2U);
  const CheckReport& report = program->apple_reports[0];
  EXPECT_EQ(report.kind, "apple");
  EXPECT_FALSE(report.of_thread);
  EXPECT_EQ(report.place.file, "kernel.metal");
  EXPECT_EQ(report.place.line, 4U);
  EXPECT_EQ(report.place.column, 9U);
  EXPECT_EQ(report.place.text, "\to[0] = max(o[1], 0);");
  EXPECT_EQ(program->apple_reports[1].place.line, 5U);
  EXPECT_NE(program->warnings.find("kernel.metal:4:9: warning: Apple's compiler refuses this: "),
            std::string::npos);
}

TEST(AppleCheck, NobodyAsksForItByDefault) {
  const auto program = compile(kAmbiguous);
  EXPECT_TRUE(program->apple_reports.empty());
  EXPECT_EQ(program->warnings, "");
}

TEST(AppleCheck, LineMarkersNameThePlace) {
  const auto program = compile_for_apple(
      "#include <metal_stdlib>\nusing namespace metal;\n#line 7 \"mine\"\n"
      "kernel void k(device float* o [[buffer(0)]]) { o[0] = sqrt(2); }\r\n");
  ASSERT_EQ(program->apple_reports.size(), 1U);
  const CheckPlace& place = program->apple_reports[0].place;
  EXPECT_EQ(place.file, "mine");
  EXPECT_EQ(place.line, 7U);
  EXPECT_EQ(place.text, "kernel void k(device float* o [[buffer(0)]]) { o[0] = sqrt(2); }");
}

TEST(AppleCheck, MacrosOfTheUserCountWhereTheyAreUsed) {
  const auto program = compile_for_apple(
      "#include <metal_stdlib>\nusing namespace metal;\n#define HALVE(v) (v * sqrt(2))\n"
      "kernel void k(device float* o [[buffer(0)]]) {\n  o[0] = HALVE(o[1]);\n}\n");
  ASSERT_EQ(program->apple_reports.size(), 1U);
  EXPECT_EQ(program->apple_reports[0].place.line, 5U);
}

TEST(AppleCheck, ReportsAreBounded) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "o[0] = max(o[1], 0);\n";
  const auto program = compile_for_apple(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device float* o [[buffer(0)]]) {\n" +
      body + "}\n");
  EXPECT_EQ(program->apple_reports.size(), 100U);
}

TEST(AppleCheck, HeadersOfTheUserCountAndCopiesOfMlxHeadersDoNot) {
  const auto folder = std::filesystem::temp_directory_path() / "apple_check_headers";
  const auto of_mlx = folder / "mlx" / "backend" / "metal" / "kernels";
  std::filesystem::create_directories(of_mlx);
  std::ofstream(folder / "mine.h")
      << "inline int one(int v) { again: if (v > 1) goto again; return v; }\n";
  std::ofstream(of_mlx / "theirs.h")
      << "inline int two(int v) { again: if (v > 1) goto again; return v; }\n";
  CompileOptions options;
  options.include_directories.push_back(folder.string());
  const auto program = compile_for_apple(
      "#include \"mine.h\"\n#include \"mlx/backend/metal/kernels/theirs.h\"\n"
      "kernel void k(device int* o [[buffer(0)]]) { o[0] = one(1) + two(1); }\n",
      options);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(program->apple_reports.size(), 1U);
  EXPECT_TRUE(program->apple_reports[0].place.file.ends_with("mine.h"));
}

}  // namespace
}  // namespace metal
