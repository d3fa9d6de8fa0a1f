// Exported functions and drawings of graphs through the C++ interface.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "mlx/check.h"
#include "mlx/graph_utils.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

class Export : public testing::Test {
 protected:
  ~Export() override { std::filesystem::remove(path_); }

  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("mlx_export_" + std::to_string(::getpid()) + ".mlxfn"))
                                .string();
};

bool exported_equals(const array& a, const array& b) { return array_equal(a, b).item<bool>(); }

TEST_F(Export, FunctionsOfPositionalArrays) {
  const array w = random::normal({3, 2});
  auto fun = [&](const Args& args) { return Args{matmul(args[0], w), args[0] + array(1.0f)}; };
  const array x = reshape(arange(0.0, 6.0, 1.0), {2, 3});
  export_function(path_, fun, {x});
  auto imported = import_function(path_);
  const auto got = imported({x});
  const auto want = fun({x});
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(exported_equals(got[0], want[0]) && exported_equals(got[1], want[1]));
  EXPECT_THROW(imported({x, x}), std::invalid_argument);
  EXPECT_THROW(imported({reshape(x, {3, 2})}), std::invalid_argument);
  EXPECT_TRUE(exported_equals(imported({{"x", x}})[0], want[0]));
  EXPECT_THROW(imported({{"x", x}, {"y", x}}), std::invalid_argument);

  const auto scaled = [&](const array& a) { return sum(imported({a})[0]); };
  const array ones_like_output = ones({2, 2});
  EXPECT_TRUE(exported_equals(grad(scaled)(x), matmul(ones_like_output, transpose(w))));
}

TEST_F(Export, FunctionsOfArraysWithKeywords) {
  const array x({1.0f, 2.0f}), y({3.0f, 4.0f});
  export_function(path_, [](const Kwargs& named) { return Args{named.at("x") - named.at("y")}; },
                  {{"x", x}, {"y", y}});
  EXPECT_TRUE(exported_equals(import_function(path_)({{"y", y}, {"x", x}})[0], x - y));

  auto both = [](const Args& args, const Kwargs& named) { return Args{args[0] * named.at("y")}; };
  export_function(path_, both, {x}, {{"y", y}}, true, "some text");
  const auto imported = import_function(path_);
  EXPECT_EQ(imported.metadata(), "some text");
  const array z({1.0f, 2.0f, 3.0f});
  EXPECT_TRUE(exported_equals(imported({z}, {{"y", z}})[0], z * z));
}

TEST_F(Export, SeveralLists) {
  {
    auto several = exporter(path_, [](const Args& args) {
      array total = args[0];
      for (size_t i = 1; i < args.size(); ++i) total = total + args[i];
      return Args{total};
    });
    several({array(1)});
    several({array(1), array(2)});
    EXPECT_FALSE(std::filesystem::exists(path_));
    several.close();
    EXPECT_THROW(several({array(1)}), std::runtime_error);
  }
  const auto imported = import_function(path_);
  EXPECT_EQ(imported({array(5), array(7)})[0].item<int>(), 12);
  try {
    imported({array(5.0f)});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("(int32 (), int32 ())"), std::string::npos);
  }
}

TEST_F(Export, CompiledFunctionsAreTheirOperations) {
  auto fused = compile([](const Args& args) { return Args{exp(args[0]) * args[0] + array(2.0f)}; });
  const array x({1.0f, 2.0f});
  std::vector<std::string> names;
  export_function(
      [&](const ExportCallbackInput& event) {
        if (std::get<std::string>(event.at("type")) == "primitive") {
          names.push_back(std::get<std::string>(event.at("name")));
        }
      },
      [&](const Args& args) { return fused({args[0]}); }, {x});
  EXPECT_EQ(std::count(names.begin(), names.end(), "Exp"), 1);
  for (const auto& name : names) EXPECT_EQ(name.find("Compiled"), std::string::npos);
  export_function(path_, fused, {x});
  EXPECT_TRUE(allclose(import_function(path_)({x})[0], fused({x})[0]).item<bool>());
}

TEST_F(Export, FilesThatPythonHasWritten) {
  const auto tests = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  const auto imported = import_function(tests / "python" / "golden" / "version_1.mlxfn");
  EXPECT_EQ(imported.metadata(), "softmax(x @ w) + y");
  const array w = reshape(arange(0.0, 6.0, 1.0), {3, 2}) / array(8.0f);
  const array x = ones({2, 3}), y({1.0f, 2.0f});
  EXPECT_TRUE(exported_equals(imported({x}, {{"y", y}})[0], softmax(matmul(x, w), -1) + y));
}

TEST_F(Export, FilesThatAreNone) {
  EXPECT_THROW(import_function(path_), std::runtime_error);
  save_safetensors(path_, {{"x", array(1)}});
  EXPECT_THROW(import_function(path_ + ".safetensors"), std::runtime_error);
  std::filesystem::remove(path_ + ".safetensors");
}

TEST(GraphUtils, PrintsAndDraws) {
  const array x(1.0f), y(2.0f);
  const array z = multiply(add(x, y), y);
  std::ostringstream text;
  print_graph(text, z);
  EXPECT_EQ(text.str(), "Inputs: A, B\nOutputs: D\nAdd A, B -> C\nMultiply C, B -> D\n");

  NodeNamer namer;
  namer.set_name(x, "x");
  text.str("");
  export_to_dot(text, namer, z);
  for (const char* part : {"digraph {", "[label=\"x\"]", "[label=\"Add\", shape=rectangle]"}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  }
}

TEST(GraphUtils, NamesAreLetters) {
  NodeNamer namer;
  std::vector<array> arrays;
  for (int i = 0; i < 30; ++i) arrays.emplace_back(i);
  for (const auto& a : arrays) namer.get_name(a);
  EXPECT_EQ(namer.get_name(arrays[25]), "Z");
  EXPECT_EQ(namer.get_name(arrays[26]), "AA");
  EXPECT_EQ(namer.get_name(arrays[29]), "AD");
}

}  // namespace
}  // namespace mlx::core::test
