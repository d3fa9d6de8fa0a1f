// The source that metal_kernel generates around a body: identifiers, parameters, line markers.
#include <gtest/gtest.h>

#include "mlx/fast/metal_kernel/attributes.h"
#include "mlx/fast/metal_kernel/signature.h"

namespace mlx::core::fast {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Lexer, FindsIdentifiers) {
  auto found = identifiers_in("uint elem = thread_position_in_grid.x; out[elem] = T(inp[elem]);");
  for (auto word : {"uint", "elem", "thread_position_in_grid", "x", "out", "T", "inp"}) {
    EXPECT_TRUE(found.contains(word)) << word;
  }
  EXPECT_EQ(found.size(), 7u);
}

TEST(Lexer, SkipsComments) {
  auto found = identifiers_in("a // b \\\n c\n /* d\n e */ f /* g");
  EXPECT_EQ(found, (IdentifierSet{"a", "f"}));
}

TEST(Lexer, SkipsLiterals) {
  auto found = identifiers_in(
      R"(x "y \" z" 'w' 1e5f 0xFFul 1'000ul .5h 1e+5f 2E-3h 0x1.8p+3f u8"v" L'u' end)");
  EXPECT_EQ(found, (IdentifierSet{"x", "end"}));
}

TEST(Lexer, SkipsRawStrings) {
  for (std::string prefix : {"R", "LR", "uR", "UR", "u8R"}) {
    const auto found = identifiers_in("a " + prefix + "\"(b \" c)\" d");
    EXPECT_EQ(found, (IdentifierSet{"a", "d"})) << prefix;
  }
  EXPECT_EQ(identifiers_in("R\"tag(a \" b)\" c)tag\" d"), (IdentifierSet{"d"}));
}

TEST(Lexer, ToleratesMalformedText) {
  EXPECT_EQ(identifiers_in("a \"unterminated\nb '\nc /"), (IdentifierSet{"a", "b", "c"}));
  EXPECT_EQ(identifiers_in("a \"ends with \\"), (IdentifierSet{"a"}));
  EXPECT_EQ(identifiers_in("// ends with \\"), IdentifierSet{});
  EXPECT_EQ(identifiers_in("R\"no parenthesis"), IdentifierSet{});
}

TEST(Lexer, KnowsACompleteKernel) {
  EXPECT_TRUE(defines_kernel("#include <metal_stdlib>\nkernel void f(device float* x) { }"));
  EXPECT_TRUE(defines_kernel("template <typename T> [[kernel]] void f(device T* x) { }"));
  EXPECT_TRUE(defines_kernel("struct S { int x; };\nnamespace a { kernel void f() { } }"));
  EXPECT_TRUE(defines_kernel("[[host_name(\"g\")]] [[kernel]] void f() {}"));
}

TEST(Lexer, KnowsABody) {
  EXPECT_FALSE(defines_kernel("out[0] = 1; // kernel void f()"));
  EXPECT_FALSE(defines_kernel("\"kernel void\";"));
  EXPECT_FALSE(defines_kernel("if (a) { my_kernel(); }"));
  EXPECT_FALSE(defines_kernel("}}}} { a.kernel; }"));
  EXPECT_FALSE(defines_kernel(""));
}

Signature simple_signature() {
  Signature s;
  s.inputs = {{"inp", "float16_t", InputKind::Device, {}}};
  s.outputs = {{"out", "float16_t"}};
  s.templates = {{"T", "typename", "float"}};
  s.attributes = {"thread_position_in_grid"};
  return s;
}

const KernelText kText{"myexp", "", "\n  out[0] = inp[0];\n"};

TEST(Signature, WritesTheSimpleExample) {
  auto generated = generate_source(kText, simple_signature());
  EXPECT_TRUE(
      contains(generated.source, "template <typename T>\n[[kernel]] void custom_kernel_myexp_"));
  EXPECT_TRUE(contains(generated.source, "const device float16_t* inp [[buffer(0)]],\n"));
  EXPECT_TRUE(contains(generated.source, "device float16_t* out [[buffer(1)]],\n"));
  EXPECT_TRUE(
      contains(generated.source, "uint3 thread_position_in_grid [[thread_position_in_grid]]) {\n"));
  EXPECT_TRUE(contains(generated.source, "template [[host_name(\"" + generated.function +
                                             "\")]] [[kernel]] decltype(" + generated.function +
                                             "<float>) " + generated.function + "<float>;\n"));
}

TEST(Signature, NumbersBuffersThroughCompanions) {
  Signature s = simple_signature();
  s.inputs[0].companions = {true, true, true};
  s.inputs.push_back({"scale", "float", InputKind::Reference, {}});
  s.inputs.push_back({"few", "int32_t", InputKind::Constant, {false, true, false}});
  auto source = generate_source(kText, s).source;
  EXPECT_TRUE(contains(source, "const constant int* inp_shape [[buffer(1)]]"));
  EXPECT_TRUE(contains(source, "const constant int64_t* inp_strides [[buffer(2)]]"));
  EXPECT_TRUE(contains(source, "const constant int& inp_ndim [[buffer(3)]]"));
  EXPECT_TRUE(contains(source, "const constant float& scale [[buffer(4)]]"));
  EXPECT_TRUE(contains(source, "const constant int32_t* few [[buffer(5)]]"));
  EXPECT_TRUE(contains(source, "const constant int64_t* few_strides [[buffer(6)]]"));
  EXPECT_TRUE(contains(source, "device float16_t* out [[buffer(7)]]"));
  EXPECT_EQ(s.buffer_count(), 8u);
}

TEST(Signature, MakesOutputsAtomic) {
  Signature s = simple_signature();
  s.atomic_outputs = true;
  EXPECT_TRUE(contains(generate_source(kText, s).source, "device atomic<float16_t>* out"));
}

TEST(Signature, WritesAllTemplateKinds) {
  Signature s = simple_signature();
  s.templates = {{"T", "typename", "half"}, {"N", "int", "-3"}, {"FLAG", "bool", "true"}};
  auto generated = generate_source(kText, s);
  EXPECT_TRUE(contains(generated.source, "template <typename T, int N, bool FLAG>\n"));
  EXPECT_TRUE(contains(generated.source, generated.function + "<half, -3, true>;"));
}

TEST(Signature, LeavesOutTheInstantiationWithoutTemplates) {
  Signature s = simple_signature();
  s.templates.clear();
  auto source = generate_source(kText, s).source;
  EXPECT_FALSE(contains(source, "template"));
  EXPECT_FALSE(contains(source, "host_name"));
}

TEST(Signature, NamesDependOnEverything) {
  auto base = generate_source(kText, simple_signature()).function;
  EXPECT_EQ(base, generate_source(kText, simple_signature()).function);
  Signature other = simple_signature();
  other.inputs[0].type = "float";
  EXPECT_NE(base, generate_source(kText, other).function);
  other = simple_signature();
  other.templates[0].value = "half";
  EXPECT_NE(base, generate_source(kText, other).function);
  EXPECT_NE(base, generate_source({"myexp", "", "out[0] = 0;"}, simple_signature()).function);
  EXPECT_NE(base, generate_source({"myexp", "struct A;", kText.body}, simple_signature()).function);
}

TEST(Signature, FunctionNameIsAnIdentifier) {
  auto function = generate_source({"my-kernel <2>", "", ""}, simple_signature()).function;
  EXPECT_EQ(reason_against_name(function), "");
  EXPECT_EQ(function.rfind("custom_kernel_my_kernel__2__", 0), 0u);
}

TEST(Signature, MarksTheUsersLines) {
  KernelText text{"my\"name", "struct A;", "int x;"};
  auto source = generate_source(text, simple_signature()).source;
  EXPECT_TRUE(contains(source, "#line 1 \"my\\\"name.header\"\nstruct A;\n"));
  EXPECT_TRUE(contains(source, "#line 1 \"my\\\"name\"\nint x;\n"));
}

TEST(Signature, KeepsTheHeaderBeforeTheSignature) {
  auto source = generate_source({"k", "#define T half", ""}, Signature{}).source;
  EXPECT_LT(source.find("utils.h"), source.find("#define T half"));
  EXPECT_LT(source.find("#define T half"), source.find("[[kernel]]"));
}

TEST(Signature, ListsAttributesInATableOfTheirTypes) {
  Signature s = simple_signature();
  for (const auto& a : kKernelAttributes) s.attributes.push_back(a.name);
  auto source = generate_source(kText, s).source;
  for (const auto& a : kKernelAttributes) {
    std::string name(a.name);
    EXPECT_TRUE(contains(source, std::string(a.type) + " " + name + " [[" + name + "]]")) << name;
  }
}

TEST(Mentions, CompanionsOnlyWhereNamed) {
  auto mentioned = identifiers_in("x_shape[0] + y_ndim; // x_strides");
  auto x = companions_of("x", mentioned, {"x", "y"});
  EXPECT_TRUE(x.shape);
  EXPECT_FALSE(x.strides);
  EXPECT_FALSE(x.ndim);
  EXPECT_TRUE(companions_of("y", mentioned, {"x", "y"}).ndim);
}

TEST(Mentions, AnInputOfThatNameComesFirst) {
  auto mentioned = identifiers_in("x_shape[0] + threads_per_grid");
  EXPECT_FALSE(companions_of("x", mentioned, {"x", "x_shape"}).shape);
  EXPECT_TRUE(attributes_of(mentioned, {"threads_per_grid"}).empty());
  EXPECT_EQ(attributes_of(mentioned, {"x"}).size(), 1u);
}

TEST(Mentions, AttributesAreWholeWords) {
  EXPECT_TRUE(attributes_of(identifiers_in("my_thread_position_in_grid"), {}).empty());
  EXPECT_TRUE(attributes_of(identifiers_in("/* thread_position_in_grid */"), {}).empty());
  EXPECT_EQ(attributes_of(identifiers_in("thread_position_in_grid.x"), {}).size(), 1u);
}

TEST(Names, RefusesWhatCannotNameAParameter) {
  for (auto name : {"x", "B", "out", "cos", "thread_position_in_grid", "_y1"}) {
    EXPECT_EQ(reason_against_name(name), "") << name;
  }
  for (auto name : {"", "1x", "a b", "a-b", "kernel", "device", "float", "x ", "//", "\"x\""}) {
    EXPECT_NE(reason_against_name(name), "") << name;
  }
}

TEST(CompleteKernel, StandsUnderThePrelude) {
  auto source = with_prelude({"k", "#define A 1", "kernel void f() {}"});
  EXPECT_TRUE(
      contains(source, "#line 1 \"k.header\"\n#define A 1\n#line 1 \"k\"\nkernel void f() {}\n"));
}

}  // namespace
}  // namespace mlx::core::fast
