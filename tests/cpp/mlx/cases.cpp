// Functions with every differentiable operation.
#include "mlx/cases.h"

#include "mlx/check.h"
#include "mlx/fast.h"
#include "mlx/ops.h"

namespace mlx::core::test {

namespace {

using Inputs = std::vector<array>;
using Unary = array (*)(const array&, StreamOrDevice);
using Binary = array (*)(const array&, const array&, StreamOrDevice);

struct Builder {
  std::vector<Case> cases;

  void unary(const char* name, Unary f, double low = -0.9, double high = 0.9) {
    cases.push_back({name,
                     [f](const Inputs& in) { return Inputs{f(in[0], {})}; },
                     {sample({3, 4}, low, high)}});
  }

  void binary(const char* name, Binary f, double low = 0.5, double high = 2) {
    cases.push_back({name,
                     [f](const Inputs& in) { return Inputs{f(in[0], in[1], {})}; },
                     {sample({3, 4}, low, high, 1), sample({3, 1}, low, high, 2)}});
  }

  void one(const char* name, std::function<array(const array&)> f, const Shape& shape = {3, 4}) {
    cases.push_back({name, [f](const Inputs& in) { return Inputs{f(in[0])}; }, {sample(shape)}});
  }

  void two(const char* name, std::function<array(const array&, const array&)> f, const Shape& a,
           const Shape& b) {
    cases.push_back({name,
                     [f](const Inputs& in) { return Inputs{f(in[0], in[1])}; },
                     {sample(a, -1, 1, 1), sample(b, -1, 1, 2)}});
  }

  void many(const char* name, std::function<Inputs(const Inputs&)> f, Inputs inputs) {
    cases.push_back({name, std::move(f), std::move(inputs)});
  }
};

void add_unary(Builder& b) {
  b.unary("abs", abs, 0.1, 1);
  b.unary("negative", negative);
  b.unary("exp", exp);
  b.unary("expm1", expm1);
  b.unary("sin", sin);
  b.unary("cos", cos);
  b.unary("tan", tan);
  b.unary("arcsin", arcsin, -0.7, 0.7);
  b.unary("arccos", arccos, -0.7, 0.7);
  b.unary("arctan", arctan);
  b.unary("sinh", sinh);
  b.unary("cosh", cosh);
  b.unary("tanh", tanh);
  b.unary("arcsinh", arcsinh);
  b.unary("arccosh", arccosh, 1.5, 3);
  b.unary("arctanh", arctanh, -0.7, 0.7);
  b.unary("log", log, 0.5, 2);
  b.unary("log2", log2, 0.5, 2);
  b.unary("log10", log10, 0.5, 2);
  b.unary("log1p", log1p, -0.4, 1);
  b.unary("sigmoid", sigmoid);
  b.unary("erf", erf);
  b.unary("erfinv", erfinv, -0.7, 0.7);
  b.unary("square", square);
  b.unary("sqrt", sqrt, 0.5, 2);
  b.unary("rsqrt", rsqrt, 0.5, 2);
  b.unary("reciprocal", reciprocal, 0.5, 2);
  b.unary("degrees", degrees);
}

void add_binary(Builder& b) {
  b.binary("add", add);
  b.binary("subtract", subtract);
  b.binary("multiply", multiply);
  b.binary("divide", divide);
  b.binary("power", power);
  b.binary("maximum", maximum);
  b.binary("minimum", minimum);
  b.binary("logaddexp", logaddexp);
  b.binary("arctan2", arctan2);
  b.two("remainder",
        [](const array& x, const array& y) {
          return remainder(add(x, array(2.5f)), add(y, array(9.0f)));
        },
        {3}, {3});
  b.many("divmod",
         [](const Inputs& in) {  // the quotients stay 2
           return divmod(in[0] * array(0.1f) + array(3.5f), in[1] * array(0.05f) + array(1.3f));
         },
         {sample({3}), sample({3}, -1, 1, 1)});
  b.two("clip",
        [](const array& x, const array& y) { return clip(x, mean(y), mean(y) + array(0.5f)); },
        {3, 4}, {3});
  b.two("where",
        [](const array& x, const array& y) { return where(array({true, false, true}), x, y); },
        {2, 3}, {3});
}

void add_reductions(Builder& b) {
  b.one("sum", [](const array& x) { return sum(x, 1); });
  b.one("mean", [](const array& x) { return mean(x, std::vector<int>{0, 1}); });
  b.one("prod", [](const array& x) { return prod(x, 1); });
  b.one("prod_with_zero",
        [](const array& x) { return prod(multiply(x, array({1.f, 0.f, 1.f, 1.f})), 1); });
  b.one("max", [](const array& x) { return max(x, 0, true); });
  b.one("min", [](const array& x) { return min(x, 1); });
  b.one("var", [](const array& x) { return var(x, 1); });
  b.one("std", [](const array& x) { return std(x, 0, false, 1); });
  b.one("median", [](const array& x) { return median(x, 1); });
  b.one("logsumexp", [](const array& x) { return logsumexp(x, 0); });
  b.one("softmax", [](const array& x) { return softmax(x, 1); });
  b.one("softmax_first_axis", [](const array& x) { return softmax(x, 0); });
  b.one("cumsum", [](const array& x) { return cumsum(x, 1); });
  b.one("cumsum_reverse_exclusive", [](const array& x) { return cumsum(x, 0, true, false); });
  b.one("cumprod", [](const array& x) { return cumprod(x, 1); });
  b.one("cumprod_exclusive_with_zero", [](const array& x) {
    return cumprod(multiply(x, array({1.f, 0.f, 1.f, 1.f})), 1, false, false);
  });
  b.one("cummax", [](const array& x) { return cummax(x, 1); });
  b.one("cummin_reverse", [](const array& x) { return cummin(x, 1, true, true); });
  b.one("logcumsumexp", [](const array& x) { return logcumsumexp(x, 1); });
  b.one("sort", [](const array& x) { return sort(x, 1); });
  b.one("topk", [](const array& x) { return sort(topk(x, 2, 1), 1); });
}

void add_shapes(Builder& b) {
  b.one("reshape", [](const array& x) { return reshape(x, {2, 6}); });
  b.one("flatten", [](const array& x) { return flatten(x, 0, 1); });
  b.one("unflatten", [](const array& x) { return unflatten(x, 1, {2, 2}); });
  b.one("squeeze_expand", [](const array& x) { return squeeze(expand_dims(x, {0, 2}), 0); });
  b.one("transpose", [](const array& x) { return transpose(x, {2, 0, 1}); }, {2, 3, 4});
  b.one("broadcast_to", [](const array& x) { return broadcast_to(x, {5, 3, 4}); }, {3, 1});
  b.one("as_strided", [](const array& x) { return as_strided(x, {3, 2}, {2, 1}, 1); });
  b.one("flip", [](const array& x) { return flip(x, 1); });
  b.one("roll", [](const array& x) { return roll(x, 1, 1); });
  b.one("repeat", [](const array& x) { return repeat(x, 2, 1); });
  b.one("tile", [](const array& x) { return tile(x, {2, 1, 2}); });
  b.one("pad", [](const array& x) { return pad(x, {1, 2}); });
  b.one("pad_edge", [](const array& x) { return pad(x, {1, 1}, array(0), "edge"); });
  b.one("diagonal", [](const array& x) { return diagonal(x, 1); });
  b.one("diag", [](const array& x) { return diag(x, -1); }, {3});
  b.one("trace", [](const array& x) { return trace(x); });
  b.one("tril", [](const array& x) { return tril(x); });
  b.one("contiguous", [](const array& x) { return contiguous(transpose(x)); });
  b.many("split", [](const Inputs& in) { return split(in[0], Shape{1, 3}, 1); }, {sample({3, 4})});
  b.many("split_back", [](const Inputs& in) { return split(in[0], Shape{3, 1, 2}, 1); },
         {sample({3, 4})});
  b.many("concatenate", [](const Inputs& in) { return Inputs{concatenate({in[0], in[1]}, 1)}; },
         {sample({3, 2}), sample({3, 4}, -1, 1, 1)});
  b.two("stack", [](const array& x, const array& y) { return stack({x, y}, 1); }, {3, 4}, {3, 4});
}

void add_indexing(Builder& b) {
  array index({2, 0, -1}, int32);
  b.one("slice", [](const array& x) { return slice(x, Shape{0, 3}, {3, 0}, {2, -1}); });
  b.one("take", [index](const array& x) { return take(x, index, 0); });
  b.one("take_two_axes",
        [index](const array& x) { return gather(x, {index, index}, {0, 1}, {1, 1}); });
  b.one("take_along_axis",
        [](const array& x) { return take_along_axis(x, array({1, 0, 0, 2}, {1, 4}, int32), 0); });
  b.one("dynamic_slice",
        [](const array& x) { return slice(x, array({1, 2}, int32), {0, 1}, {2, 2}); });
  b.two("slice_update",
        [](const array& x, const array& u) {
          return slice_update(x, u, Shape{0, 1}, Shape{3, 4}, Shape{2, 2});
        },
        {3, 4}, {2, 2});
  b.two("dynamic_slice_update",
        [](const array& x, const array& u) { return slice_update(x, u, array({1}, int32), {1}); },
        {3, 4}, {3, 2});
  b.two("put_along_axis",
        [](const array& x, const array& u) {
          return put_along_axis(x, array({1, 0}, {1, 2}, int32), u, 1);
        },
        {3, 4}, {3, 2});
  b.two("scatter_add_axis",
        [](const array& x, const array& u) {
          return scatter_add_axis(x, array({1, 1}, {1, 2}, int32), u, 1);
        },
        {3, 4}, {3, 2});
  array rows({0, 2}, int32);
  b.two("scatter", [rows](const array& x, const array& u) { return scatter(x, {rows}, u, {0}); },
        {3, 4}, {2, 1, 4});
  array twice({1, 1}, int32);
  b.two("scatter_add",
        [twice](const array& x, const array& u) { return scatter_add(x, {twice}, u, {0}); }, {3, 4},
        {2, 1, 4});
  b.two("scatter_prod",
        [twice](const array& x, const array& u) { return scatter_prod(x, {twice}, u, {0}); },
        {3, 4}, {2, 1, 4});
  b.two("scatter_min",
        [rows](const array& x, const array& u) { return scatter_min(x, {rows}, u, {0}); }, {3, 4},
        {2, 1, 4});
  b.two("scatter_max",
        [rows](const array& x, const array& u) { return scatter_max(x, {rows}, u, {0}); }, {3, 4},
        {2, 1, 4});
}

void add_linear(Builder& b) {
  auto product = [](const array& x, const array& y) { return matmul(x, y); };
  b.two("matmul", product, {3, 4}, {4, 2});
  b.two("matmul_batched", product, {2, 3, 4}, {2, 4, 5});
  b.two("matmul_broadcast", product, {2, 1, 3, 4}, {3, 4, 2});
  b.two("matmul_vector", product, {3, 4}, {4});
  b.two("inner", [](const array& x, const array& y) { return inner(x, y); }, {3, 4}, {2, 4});
  b.two("outer", [](const array& x, const array& y) { return outer(x, y); }, {3}, {4});
  b.two("tensordot", [](const array& x, const array& y) { return tensordot(x, y, 1); }, {2, 3, 4},
        {4, 2});
  b.two("einsum", [](const array& x, const array& y) { return einsum("bij,bjk->bik", {x, y}); },
        {2, 3, 4}, {2, 4, 2});
  b.two("kron", [](const array& x, const array& y) { return kron(x, y); }, {2, 2}, {2, 3});
  b.many("addmm", [](const Inputs& in) { return Inputs{addmm(in[0], in[1], in[2], 2.0f, 0.5f)}; },
         {sample({3, 2}), sample({3, 4}, -1, 1, 1), sample({4, 2}, -1, 1, 2)});
  b.two("gather_mm",
        [](const array& x, const array& y) {
          return gather_mm(x, y, array({2, 0, -1}), array({1, 1, 0}));
        },
        {3, 2, 4}, {2, 4, 3});
  b.two("segmented_mm",
        [](const array& x, const array& y) {
          return segmented_mm(x, y, array({0, 2, 1, 5, 3, 3}, {3, 2}));
        },
        {3, 5}, {5, 2});
  b.two("block_masked_mm",
        [](const array& x, const array& y) {
          return block_masked_mm(x, y, 32, array({true, false}, {1, 2}));
        },
        {3, 4}, {4, 40});
  b.two("conv1d", [](const array& x, const array& w) { return conv1d(x, w, 2, 1, 1, 2); },
        {2, 7, 4}, {6, 3, 2});
  b.one("hadamard_transform", [](const array& x) { return hadamard_transform(x); }, {2, 12});
}

void add_fast(Builder& b) {
  const array weight = sample({4}, 0.5, 2, 1), bias = sample({4}, -1, 1, 2);
  b.many("layer_norm",
         [](const Inputs& in) { return Inputs{fast::layer_norm(in[0], in[1], in[2], 0.1f)}; },
         {sample({3, 4}), weight, bias});
  b.many("rms_norm", [](const Inputs& in) { return Inputs{fast::rms_norm(in[0], in[1], 0.1f)}; },
         {sample({3, 4}), weight});
  b.one("rope", [](const array& x) { return fast::rope(x, 4, false, 100.0f, 0.5f, 2); }, {2, 3, 6});
  b.many("attention",
         [](const Inputs& in) {
           return Inputs{fast::scaled_dot_product_attention(in[0], in[1], in[2], 0.5f, "causal")};
         },
         {sample({1, 4, 3, 4}), sample({1, 2, 5, 4}, -1, 1, 1), sample({1, 2, 5, 3}, -1, 1, 2)});
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    Builder b;
    add_unary(b);
    add_binary(b);
    add_reductions(b);
    add_shapes(b);
    add_indexing(b);
    add_linear(b);
    add_fast(b);
    return std::move(b.cases);
  }();
  return all;
}

}  // namespace mlx::core::test
