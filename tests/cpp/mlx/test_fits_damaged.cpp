// The inputs that primitives accept by their state: damaged files contain states that no operation
// makes. Each rule has inputs at the last place that it allows and at the first one that it
// refuses.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "mlx/compile/fits.h"
#include "mlx/ops/creation.h"
#include "mlx/primitives.h"
#include "mlx/primitives/decompositions.h"
#include "mlx/primitives/fft.h"
#include "mlx/primitives/grouped.h"
#include "mlx/primitives/quantized.h"
#include "mlx/stream.h"

namespace mlx::core::test {
namespace {

using Shapes = std::vector<Shape>;

std::string text(const Shapes& shapes) {
  std::string found;
  for (const Shape& shape : shapes) {
    found += " (";
    for (int n : shape) found += std::to_string(n) + ",";
    found += ")";
  }
  return found;
}

bool accepts(const Primitive& primitive, const Shapes& shapes) {
  std::vector<array> inputs;
  for (const Shape& shape : shapes) inputs.push_back(zeros(shape));
  return fits(primitive, inputs);
}

void expect_fits(const Primitive& primitive, const std::vector<Shapes>& accepted,
                 const std::vector<Shapes>& refused = {}) {
  for (const Shapes& shapes : accepted)
    EXPECT_TRUE(accepts(primitive, shapes)) << primitive.name() << text(shapes);
  for (const Shapes& shapes : refused)
    EXPECT_FALSE(accepts(primitive, shapes)) << primitive.name() << text(shapes);
}

Stream host() { return default_stream(Device::cpu); }

// Makes primitives with one axis, for an input of two dimensions.
void expect_axis(const std::function<void(int, bool)>& check) {
  for (int axis : {0, 1}) check(axis, true);
  for (int axis : {-1, 2, 3}) check(axis, false);
}

// The same with several axes.
void expect_axes(const std::function<void(std::vector<int>, bool)>& check) {
  check({0}, true);
  check({1}, true);
  check({0, 1}, true);
  for (const std::vector<int>& axes : {std::vector{-1}, {2}, {0, 0}, {1, 1}, {0, 2}, {-1, 0}})
    check(axes, false);
}

TEST(DamagedStates, OneAxis) {
  const Shapes in{{2, 6}}, part{{2, 6}, {2, 6}}, parts{{2, 6}, {2, 6}, {2, 6}};
  expect_axis([&](int axis, bool fit) {
    const Stream s = host();
    EXPECT_EQ(accepts(Sort(s, axis), in), fit);
    EXPECT_EQ(accepts(ArgSort(s, axis), in), fit);
    EXPECT_EQ(accepts(Partition(s, 1, axis), in), fit);
    EXPECT_EQ(accepts(ArgPartition(s, 1, axis), in), fit);
    EXPECT_EQ(accepts(Scan(s, Scan::Sum, axis, false, true), in), fit);
    EXPECT_EQ(accepts(ArgReduce(s, ArgReduce::ArgMin, axis), in), fit);
    EXPECT_EQ(accepts(Split(s, {1}, axis), in), fit);
    EXPECT_EQ(accepts(Concatenate(s, axis), part), fit);
    EXPECT_EQ(accepts(GatherAxis(s, axis), part), fit);
    EXPECT_EQ(accepts(ScatterAxis(s, ScatterAxis::Sum, axis), parts), fit);
    EXPECT_EQ(accepts(Flatten(s, axis, 1), in), fit);
    EXPECT_EQ(accepts(Flatten(s, 0, axis), in), fit);
  });
  expect_fits(Flatten(host(), 1, 0), {}, {in});
}

TEST(DamagedStates, SeveralAxes) {
  expect_axes([](const std::vector<int>& axes, bool fit) {
    const Stream s = host();
    const Shape each(axes.size(), 1);
    const int count = static_cast<int>(axes.size());
    const Shapes in{{2, 6}};
    EXPECT_EQ(accepts(Reduce(s, Reduce::Sum, axes), in), fit);
    EXPECT_EQ(accepts(Variance(s, axes, 1), in), fit);
    EXPECT_EQ(accepts(NumberOfElements(s, axes, false, float32), in), fit);
    EXPECT_EQ(accepts(FFT(s, FFTKind::Complex, axes, false, 6, 1.0), in), fit);
    EXPECT_EQ(accepts(Squeeze(s, axes), {{1, 1}}), fit);
    EXPECT_EQ(accepts(Pad(s, axes, each, each), {{2, 6}, {}}), fit);
    EXPECT_EQ(accepts(DynamicSlice(s, axes, {1, 1}), {{2, 6}, {count}}), fit);
    EXPECT_EQ(accepts(DynamicSliceUpdate(s, axes), {{2, 6}, {1, 1}, {count}}), fit);
    Shapes indices(1 + axes.size(), {3});
    indices[0] = {2, 6};
    EXPECT_EQ(accepts(Gather(s, axes, {1, 1}), indices), fit);
    indices.push_back({3, 1, 1});
    EXPECT_EQ(accepts(Scatter(s, Scatter::Sum, axes), indices), fit);
    EXPECT_EQ(accepts(Transpose(s, axes), in), fit && axes.size() == 2);
    EXPECT_EQ(accepts(ExpandDims(s, axes), {Shape(2 - std::min(count, 2), 5)}), fit);
  });
  expect_fits(ExpandDims(host(), {1, 0}), {}, {{{}}});
  expect_fits(Squeeze(host(), {1, 0}), {}, {{{1, 1}}});
  expect_fits(Squeeze(host(), {0}), {{{1, 2}}}, {{{2, 1}}, {{0, 1}}, {{}}});
  expect_fits(Reduce(host(), Reduce::Sum, {}), {{{}}, {{2}}});
}

TEST(DamagedStates, Slices) {
  auto fit = [](int start, int end, int stride) {
    const Slice slice(host(), {start}, {end}, {stride});
    const SliceUpdate update(host(), {start}, {end}, {stride});
    const bool result = accepts(slice, {{5}});
    const int length =
        stride ? std::max(0, (end - start + stride - (stride > 0 ? 1 : -1)) / stride) : 0;
    EXPECT_EQ(accepts(update, {{5}, {length}}), result);
    EXPECT_FALSE(accepts(update, {{5}, {length + 1}}));
    EXPECT_FALSE(accepts(update, {{5}, {length, 1}}));
    return result;
  };
  for (int start = -2; start <= 7; ++start) {
    for (int end = -2; end <= 7; ++end) {
      EXPECT_FALSE(fit(start, end, 0));
      for (int stride : {1, 2, 3})
        EXPECT_EQ(fit(start, end, stride), 0 <= start && start <= end && end <= 5) << start << end;
      for (int stride : {-1, -2, -3})
        EXPECT_EQ(fit(start, end, stride), -1 <= end && end <= start && start < 5) << start << end;
    }
  }
  expect_fits(Slice(host(), {0}, {-1}, {-1}), {{{1}}, {{0}}}, {{{}}, {{1, 1}}});
  expect_fits(Slice(host(), {0, 0}, {1}, {1}), {}, {{{5}}, {{5, 5}}});
  expect_fits(Slice(host(), {0}, {1, 1}, {1}), {}, {{{5}}, {{5, 5}}});
  expect_fits(Slice(host(), {0}, {1}, {1, 1}), {}, {{{5}}, {{5, 5}}});
  expect_fits(Slice(host(), {0, 3}, {2, 6}, {1, 1}), {{{2, 6}}}, {{{1, 6}}, {{2, 5}}});
}

TEST(DamagedStates, SlicesAtComputedPlaces) {
  expect_fits(DynamicSlice(host(), {0}, {2, 3}), {{{2, 3}, {1}}, {{4, 4}, {1}}},
              {{{1, 3}, {1}}, {{2, 2}, {1}}, {{2, 3}, {2}}, {{2}, {1}}, {{2, 3, 1}, {1}}});
  expect_fits(DynamicSlice(host(), {0}, {-1, 3}), {}, {{{2, 3}, {1}}});
  expect_fits(DynamicSlice(host(), {0}, {0, 3}), {{{2, 3}, {1}}});
  expect_fits(
      DynamicSliceUpdate(host(), {0}), {{{2, 3}, {2, 3}, {1}}, {{2, 3}, {0, 3}, {1}}},
      {{{2, 3}, {3, 3}, {1}}, {{2, 3}, {2, 4}, {1}}, {{2, 3}, {2}, {1}}, {{2, 3}, {2, 3}, {2}}});
}

TEST(DamagedStates, Gathers) {
  expect_fits(Gather(host(), {0, 1}, {2, 3}), {{{2, 3}, {4}, {4}}, {{2, 3}, {}, {}}},
              {{{1, 3}, {4}, {4}}, {{2, 3}, {4}, {5}}, {{2, 3}, {4}, {4, 1}}, {{2}, {4}, {4}}});
  expect_fits(Gather(host(), {0}, {-1, 3}), {}, {{{2, 3}, {4}}});
  expect_fits(Scatter(host(), Scatter::Sum, {0, 1}), {{{2, 3}, {4}, {4}, {4, 2, 3}}},
              {{{2, 3}, {4}, {5}, {4, 2, 3}},
               {{2, 3}, {4}, {4}, {5, 2, 3}},
               {{2, 3}, {4}, {4}, {4, 3, 3}},
               {{2, 3}, {4}, {4}, {4, 2, 4}},
               {{2, 3}, {4}, {4}, {2, 3}},
               {{2, 3}, {4}, {4}, {3}},
               {{2, 3}, {4, 4}, {4, 4}, {4, 2, 3}}});
  expect_fits(Scatter(host(), Scatter::Sum, {}), {{{2, 3}, {2, 3}}, {{2, 3}, {7, 2, 3}}},
              {{{2, 3}, {3}}, {{2, 3}, {2, 4}}});
  expect_fits(GatherAxis(host(), 1), {{{2, 3}, {2, 9}}}, {{{2, 3}, {3, 3}}, {{2, 3}, {2, 3, 1}}});
  expect_fits(ScatterAxis(host(), ScatterAxis::Sum, 0), {{{2, 3}, {9, 3}, {9, 3}}},
              {{{2, 3}, {9, 2}, {9, 2}}, {{2, 3}, {9, 3}, {8, 3}}, {{2, 3}, {9, 3}, {9}}});
}

TEST(DamagedStates, Views) {
  auto strided = [](Shape shape, Strides strides, size_t offset) {
    return accepts(AsStrided(host(), std::move(shape), std::move(strides), offset), {{6}});
  };
  EXPECT_TRUE(strided({2, 3}, {3, 1}, 0));
  EXPECT_FALSE(strided({2, 3}, {3, 1}, 1));
  EXPECT_FALSE(strided({2, 3}, {4, 1}, 0));
  EXPECT_TRUE(strided({6}, {-1}, 5));
  EXPECT_FALSE(strided({6}, {-1}, 4));
  EXPECT_FALSE(strided({6}, {-1}, 6));
  EXPECT_TRUE(strided({}, {}, 5));
  EXPECT_FALSE(strided({}, {}, 6));
  EXPECT_TRUE(strided({0, 9}, {9, 9}, 9));
  EXPECT_FALSE(strided({-1, 2}, {1, 1}, 0));
  EXPECT_FALSE(strided({2}, {1, 1}, 0));
  EXPECT_FALSE(strided({1 << 30, 1 << 30}, {int64_t{1} << 62, -(int64_t{1} << 62)}, 0));
  expect_fits(View(host(), uint8), {{{3}}}, {{{}}});
  expect_fits(View(host(), float32), {{{}}, {{3}}});
  expect_fits(View(host(), complex64), {{{2}}, {{5, 4}}, {{0}}}, {{{}}, {{3}}, {{2, 1}}});
}

TEST(DamagedStates, Shapes) {
  expect_fits(Reshape(host(), {2, -1}), {{{6}}});
  expect_fits(Reshape(host(), {-1, -1}), {}, {{{6}}});
  expect_fits(Reshape(host(), {-2, 3}), {}, {{{6}}});
  expect_fits(Broadcast(host(), {2, 3}), {{{3}}});
  expect_fits(Broadcast(host(), {2, 0}), {{{1}}});
  expect_fits(Broadcast(host(), {2, -1}), {}, {{{1}}, {}});
  expect_fits(Broadcast(host(), {2, 3}), {}, {{}});
  expect_fits(BroadcastAxes(host()), {{{2, 3}}, {{2, 3}, {2, 2, 3}}}, {{}, {{3}}, {{2, 3}, {3}}});
  expect_fits(Concatenate(host(), 1), {{{2, 3}}, {{2, 3}, {2, 0}}},
              {{}, {{2, 3}, {1, 3}}, {{2, 3}, {2, 3, 1}}, {{2}, {2}}});
  expect_fits(Split(host(), {0, 3}, 1), {{{2, 3}}}, {{{2, 2}}, {{3}}});
  expect_fits(Split(host(), {-1}, 0), {}, {{{2, 3}}});
  expect_fits(Unflatten(host(), 0, {2, 3}), {{{6}}}, {{{5}}, {{12}}, {{}}});
  expect_fits(Unflatten(host(), 0, {0, 3}), {{{0}}}, {{{3}}});
  expect_fits(Unflatten(host(), 0, {2, -1}), {{{6}}, {{0}}}, {{{5}}});
  expect_fits(Unflatten(host(), 0, {-1, -1}), {}, {{{6}}});
  expect_fits(Unflatten(host(), -1, {6}), {}, {{{6}}});
}

TEST(DamagedStates, Padding) {
  const Shapes in{{2, 6}, {}};
  expect_fits(Pad(host(), {0, 1}, {0, 1}, {2, 0}), {in}, {{{2, 6}, {1}}, {{2}, {}}});
  expect_fits(Pad(host(), {0, 1}, {0}, {2, 0}), {}, {in});
  expect_fits(Pad(host(), {0, 1}, {0, 1}, {2}), {}, {in});
  expect_fits(Pad(host(), {0, 1}, {-1, 1}, {2, 0}), {}, {in});
  expect_fits(Pad(host(), {0, 1}, {0, 1}, {2, -1}), {}, {in});
}

TEST(DamagedStates, Rotation) {
  auto rotates = [](int dims, const Shape& x, const Shape& offset, const Shapes& speeds,
                    Dtype type = int32) {
    std::vector<array> inputs{zeros(x), zeros(offset, type)};
    for (const Shape& shape : speeds) inputs.push_back(zeros(shape));
    return fits(RoPE(host(), dims, false, false, 1.0f, 0.0f), inputs);
  };
  EXPECT_TRUE(rotates(4, {2, 3, 6}, {}, {}));
  EXPECT_TRUE(rotates(6, {2, 3, 6}, {2}, {{3}}));
  EXPECT_FALSE(rotates(4, {3, 6}, {}, {}));
  EXPECT_FALSE(rotates(4, {2, 3, 6}, {3}, {}));
  EXPECT_FALSE(rotates(4, {2, 3, 6}, {}, {}, float32));
  EXPECT_FALSE(rotates(4, {2, 3, 6}, {}, {{3}}));
  EXPECT_FALSE(rotates(4, {2, 3, 6}, {}, {{2}, {2}}));
  for (int dims : {-2, 0, 3, 8}) EXPECT_FALSE(rotates(dims, {2, 3, 6}, {}, {})) << dims;
}

TEST(DamagedStates, Attention) {
  auto attends = [](const Shape& q, const Shape& k, const Shape& v, bool causal = false,
                    Dtype type = float16) {
    return fits(Attention(host(), 1.0f, causal), {zeros(q, type), zeros(k, type), zeros(v, type)});
  };
  const Shape q{2, 4, 5, 64}, k{2, 2, 7, 64};
  EXPECT_TRUE(attends(q, k, k));
  EXPECT_TRUE(attends(q, k, k, true, bfloat16));
  EXPECT_FALSE(attends(q, k, k, false, float32));
  EXPECT_FALSE(attends(q, k, {2, 2, 7, 128}));
  EXPECT_FALSE(attends(q, k, {2, 2, 6, 64}));
  EXPECT_FALSE(attends(q, {1, 2, 7, 64}, {1, 2, 7, 64}));
  EXPECT_FALSE(attends(q, {2, 3, 7, 64}, {2, 3, 7, 64}));
  EXPECT_FALSE(attends(q, {2, 0, 7, 64}, {2, 0, 7, 64}));
  EXPECT_FALSE(attends(q, {2, 2, 0, 64}, {2, 2, 0, 64}));
  EXPECT_FALSE(attends({2, 4, 8, 64}, k, k, true));
  EXPECT_FALSE(attends({2, 4, 5, 32}, {2, 2, 7, 32}, {2, 2, 7, 32}));
  EXPECT_FALSE(attends({4, 5, 64}, {2, 7, 64}, {2, 7, 64}));
}

TEST(DamagedStates, AlongAxes) {
  expect_fits(ArgReduce(host(), ArgReduce::ArgMax, 0), {{{1, 0}}}, {{{0, 1}}});
  for (int kth : {0, 1}) expect_fits(Partition(host(), kth, 0), {{{2, 6}}}, {{{kth, 6}}});
  expect_fits(Partition(host(), -1, 0), {}, {{{2, 6}}});
  expect_fits(Softmax(host(), false), {{{3}}, {{2, 0}}}, {{{}}});
  expect_fits(LogSumExp(host()), {{{3}}}, {{{}}});
  expect_fits(Normalize(host(), true, 1e-5f), {{{2, 3}, {3}, {3}}, {{3}, {3}, {3}}},
              {{{2, 3}, {2}, {3}},
               {{2, 3}, {3}, {2}},
               {{2, 3}, {1, 3}, {3}},
               {{2, 3}, {3}, {1, 3}},
               {{}, {3}, {3}}});
  expect_fits(NormalizeVJP(host(), true, 1e-5f), {{{2, 3}, {3}, {2, 3}}},
              {{{2, 3}, {2}, {2, 3}}, {{2, 3}, {3}, {3, 2}}, {{2, 3}, {3}, {3}}});
  expect_fits(FFT(host(), FFTKind::ComplexToReal, {1}, true, 10, 1.0), {{{2, 6}}},
              {{{2, 5}}, {{2, 7}}, {{6}}});
  expect_fits(FFT(host(), FFTKind::ComplexToReal, {0, 1}, true, 10, 1.0), {}, {{{6, 6}}});
  expect_fits(FFT(host(), FFTKind::RealToComplex, {0, 1}, true, 10, 1.0), {}, {{{6, 6}}});
  for (int width : {0, 1, 2, 3, 4, 5, 8}) {
    const bool fit = width == 1 || width == 2 || width == 4;
    EXPECT_EQ(accepts(RandomBits(host(), {3}, width), {{2}}), fit) << width;
  }
  expect_fits(RandomBits(host(), {0}, 4), {{{2}}, {{5, 2}}}, {{{}}, {{3}}, {{2, 1}}});
  expect_fits(RandomBits(host(), {-1}, 4), {}, {{{2}}});
}

TEST(DamagedStates, Products) {
  expect_fits(
      Matmul(host()), {{{2, 3}, {3, 4}}, {{5, 2, 3}, {5, 3, 4}}},
      {{{2, 3}, {2, 4}}, {{3}, {3}}, {{3}, {3, 4}}, {{5, 2, 3}, {4, 3, 4}}, {{5, 2, 3}, {3, 4}}});
  expect_fits(AddMM(host(), 1, 1), {{{2, 3}, {3, 4}, {2, 4}}, {{5, 2, 3}, {5, 3, 4}, {5, 2, 4}}},
              {{{2, 3}, {2, 4}, {2, 4}},
               {{2, 3}, {3, 4}, {1, 4}},
               {{2, 3}, {3, 4}, {2, 3}},
               {{2, 3}, {3, 4}, {4}},
               {{2, 3}, {3, 4}, {2, 1, 4}},
               {{5, 2, 3}, {5, 3, 4}, {1, 2, 4}}});
  expect_fits(GatherMM(host()), {{{5, 2, 3}, {6, 3, 4}, {7}, {7}}},
              {{{5, 2, 3}, {6, 2, 4}, {7}, {7}},
               {{5, 2, 3}, {6, 3, 4}, {7}, {6}},
               {{2, 3}, {6, 3, 4}, {7}, {7}},
               {{5, 2, 3}, {3, 4}, {7}, {7}}});
  expect_fits(SegmentedMM(host()), {{{2, 3}, {3, 4}, {7, 2}}, {{2, 3}, {3, 4}, {2}}},
              {{{2, 3}, {2, 4}, {7, 2}},
               {{2, 3}, {3, 4}, {7, 3}},
               {{2, 3}, {3, 4}, {}},
               {{1, 2, 3}, {3, 4}, {7, 2}},
               {{2, 3}, {1, 3, 4}, {7, 2}},
               {{3}, {3, 4}, {7, 2}}});
  expect_fits(Solve(host(), MatrixForm::General, "solve"), {{{3, 3}, {3, 2}}},
              {{{2, 3}, {3, 2}}, {{3, 3}, {2, 2}}, {{3, 3}, {3}}});
  const std::vector<Shapes> square{{{3, 3}}, {{2, 3, 3}}};
  const std::vector<Shapes> no_square{{}, {{3}}, {{2, 3}}, {{}}, {{3, 3}, {3, 3}}};
  expect_fits(Cholesky(host(), false), square, no_square);
  expect_fits(Determinant(host(), false), square, no_square);
  expect_fits(Eigh(host(), false, true), square, no_square);
  expect_fits(Eig(host(), true), square, no_square);
  const std::vector<Shapes> no_matrix{{}, {{3}}, {{}}, {{3, 3}, {3, 3}}};
  expect_fits(QRF(host()), {{{2, 3}}}, no_matrix);
  expect_fits(LUF(host()), {{{2, 3}}}, no_matrix);
  expect_fits(SVD(host(), true), {{{2, 3}}}, no_matrix);
}

TEST(DamagedStates, Convolutions) {
  auto window = [](std::vector<int> stride, std::vector<int> low, std::vector<int> high,
                   std::vector<int> dilation, int groups) {
    return ConvolutionWindow{std::move(stride), std::move(low), std::move(high),
                             std::move(dilation), groups};
  };
  const Shapes plain{{1, 5, 4}, {6, 3, 4}}, grouped{{1, 5, 4}, {6, 3, 2}};
  auto fit = [](const ConvolutionWindow& w, const Shapes& in,
                ConvolutionPart part = ConvolutionPart::Output) {
    return accepts(Convolution(host(), part, w), in);
  };
  const ConvolutionWindow one = window({1}, {0}, {0}, {1}, 1), two = window({1}, {0}, {0}, {1}, 2);
  EXPECT_TRUE(fit(one, plain));
  EXPECT_TRUE(fit(two, grouped));
  EXPECT_FALSE(fit(one, grouped));
  EXPECT_FALSE(fit(two, plain));
  EXPECT_FALSE(fit(two, {{1, 5, 4}, {5, 3, 2}}));
  EXPECT_FALSE(fit(one, {{5, 4}, {6, 4}}));
  EXPECT_FALSE(fit(one, {{1, 5, 4}, {6, 3, 1, 4}}));
  EXPECT_TRUE(fit(window({1}, {0}, {-1}, {1}, 1), plain));
  for (const auto& bad : {window({0}, {0}, {0}, {1}, 1), window({1}, {-1}, {0}, {1}, 1),
                          window({1}, {0}, {0}, {0}, 1), window({1}, {0}, {0}, {1}, 0),
                          window({1, 1}, {0}, {0}, {1}, 1), window({1}, {0, 0}, {0}, {1}, 1),
                          window({1}, {0}, {0, 0}, {1}, 1), window({1}, {0}, {0}, {1, 1}, 1),
                          window({}, {0}, {0}, {1}, 1)})
    EXPECT_FALSE(fit(bad, plain));
  // The cotangent and the weight; the input and the cotangent, both with channels first.
  const auto input = ConvolutionPart::Input, weight = ConvolutionPart::Weight;
  EXPECT_TRUE(fit(two, {{6, 3, 2}, {1, 5, 6}}, input));
  EXPECT_FALSE(fit(two, {{6, 3, 2}, {1, 5, 4}}, input));
  EXPECT_FALSE(fit(two, {{5, 3, 2}, {1, 5, 5}}, input));
  EXPECT_TRUE(fit(two, {{1, 5, 4}, {1, 5, 6}}, weight));
  EXPECT_FALSE(fit(two, {{1, 5, 4}, {2, 5, 6}}, weight));
  EXPECT_FALSE(fit(two, {{1, 5, 3}, {1, 5, 6}}, weight));
  EXPECT_FALSE(fit(two, {{1, 5, 4}, {1, 5, 5}}, weight));
}

TEST(DamagedStates, QuantizedArrays) {
  const Quantization q{Quantization::Affine, 32, 4};
  for (const Quantization& bad :
       {Quantization{Quantization::Affine, 0, 4}, Quantization{Quantization::Affine, 32, 0},
        Quantization{Quantization::Affine, 32, 9}, Quantization{Quantization::Affine, -32, 4},
        Quantization{Quantization::Affine, 32, -4}}) {
    expect_fits(Quantize(host(), bad), {}, {{{2, 64}}});
    expect_fits(Dequantize(host(), bad, float32), {}, {{{2, 8}, {2, 2}, {2, 2}}});
  }
  expect_fits(Quantize(host(), {Quantization::Affine, 32, 8}), {{{2, 64}}});
  expect_fits(Quantize(host(), q), {{{2, 64}}, {{32}}}, {{{2, 48}}, {{}}, {}});
  expect_fits(Dequantize(host(), q, float32), {{{2, 8}, {2, 2}, {2, 2}}},
              {{{2, 4}, {2, 2}, {2, 2}},
               {{2, 8}, {3, 2}, {3, 2}},
               {{2, 8}, {2, 2}, {2, 1}},
               {{2, 8}, {2}, {2}},
               {{2, 8}, {2, 2}},
               {{}, {}, {}}});
  expect_fits(Dequantize(host(), {Quantization::Mxfp4, 32, 4}, float32), {{{2, 8}, {2, 2}}},
              {{{2, 8}}, {{2, 8}, {2, 1}}});
  expect_fits(QuantizedMatmul(host(), q, true),
              {{{5, 64}, {2, 8}, {2, 2}, {2, 2}},
               {{64}, {2, 8}, {2, 2}, {2, 2}},
               {{3, 5, 64}, {2, 8}, {2, 2}, {2, 2}},
               {{3, 5, 64}, {3, 2, 8}, {3, 2, 2}, {3, 2, 2}}},
              {{{5, 32}, {2, 8}, {2, 2}, {2, 2}},
               {{}, {2, 8}, {2, 2}, {2, 2}},
               {{64}, {8}, {2}, {2}},
               {{5, 64}, {2, 8}, {2, 2}},
               {{3, 5, 64}, {4, 2, 8}, {4, 2, 2}, {4, 2, 2}},
               {{5, 64}, {3, 2, 8}, {3, 2, 2}, {3, 2, 2}}});
  expect_fits(QuantizedMatmul(host(), q, false), {{{5, 2}, {2, 8}, {2, 2}, {2, 2}}},
              {{{5, 64}, {2, 8}, {2, 2}, {2, 2}}});
  expect_fits(GatherQMM(host(), q, true), {{{3, 5, 64}, {4, 2, 8}, {4, 2, 2}, {4, 2, 2}, {7}, {7}}},
              {{{5, 64}, {4, 2, 8}, {4, 2, 2}, {4, 2, 2}, {7}, {7}},
               {{3, 5, 64}, {2, 8}, {2, 2}, {2, 2}, {7}, {7}},
               {{3, 5, 32}, {4, 2, 8}, {4, 2, 2}, {4, 2, 2}, {7}, {7}},
               {{3, 5, 64}, {4, 2, 8}, {4, 2, 2}, {4, 2, 2}, {7}, {6}}});
}

}  // namespace
}  // namespace mlx::core::test
