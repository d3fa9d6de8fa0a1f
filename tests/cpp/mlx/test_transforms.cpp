// Transformations, and how they nest.
#include <gtest/gtest.h>

#include "mlx/check.h"
#include "mlx/compile_impl.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace mlx::core::test {

using Arrays = std::vector<array>;

TEST(Transforms, ValueAndGradGivesBoth) {
  auto loss = [](const Arrays& in) { return sum(multiply(in[0], square(in[1]))); };
  array a = sample({3}), b = sample({3}, -1, 1, 1);
  auto [value, grads] = value_and_grad(loss, {1, 0})({a, b});
  expect_close(value, sum(multiply(a, square(b))));
  expect_close(grads[0], multiply(array(2.0f), multiply(a, b)));
  expect_close(grads[1], square(b));
}

TEST(Transforms, GradientsNest) {
  std::function<array(const array&)> cube = [](const array& x) { return multiply(x, square(x)); };
  auto third = grad(grad(grad(cube)));
  EXPECT_FLOAT_EQ(third(array(2.0f)).item<float>(), 6.0f);
}

TEST(Transforms, MapOfGradAndGradOfMap) {
  std::function<array(const array&)> f = [](const array& x) { return sin(square(x)); };
  array x = sample({5});
  array expected = multiply(multiply(array(2.0f), x), cos(square(x)));
  expect_close(vmap(grad(f))(x), expected);
  auto total = [&](const array& y) { return sum(vmap(f)(y)); };
  expect_close(grad(total)(x), expected);
}

TEST(Transforms, HessianByMapOfJvpOfGrad) {
  std::function<array(const array&)> f = [](const array& x) { return sum(multiply(square(x), x)); };
  array x = sample({3});
  auto row = [&](const array& direction) { return jvp(grad(f), x, direction).second; };
  expect_close(vmap(row)(eye(3)), diag(multiply(array(6.0f), x)));
}

TEST(Transforms, MapsNest) {
  std::function<array(const array&, const array&)> product = [](const array& a, const array& b) {
    return sum(multiply(a, b));
  };
  array a = sample({3, 4}), b = sample({5, 4}, -1, 1, 1);
  std::function<array(const array&, const array&)> rows = vmap(product, -1, 0);
  expect_close(vmap(rows, 0, -1)(a, b), matmul(a, transpose(b)));
}

TEST(Transforms, UnmappedOutputsAreRepeated) {
  auto f = [](const Arrays& in) { return Arrays{array(3.0f), in[0]}; };
  auto out = vmap(f, {0}, {0, 1})({sample({4, 2})});
  EXPECT_EQ(out[0].shape(), (Shape{4}));
  EXPECT_EQ(out[1].shape(), (Shape{2, 4}));
}

TEST(Transforms, MapRefusesWrongAxes) {
  auto f = [](const Arrays& in) { return in; };
  EXPECT_NE(message_of([&] { vmap(f, {0, 0})({zeros({2}), zeros({3})}); }).find("[vmap]"),
            std::string::npos);
  EXPECT_NE(message_of([&] { vmap(f, {1})({zeros({2})}); }).find("[vmap]"), std::string::npos);
  EXPECT_NE(message_of([&] { vmap(f, {-1})({zeros({2})}); }).find("[vmap]"), std::string::npos);
}

TEST(Transforms, StopGradientStops) {
  auto f = [](const array& x) { return multiply(x, stop_gradient(x)); };
  EXPECT_FLOAT_EQ(grad(f)(array(3.0f)).item<float>(), 3.0f);
}

TEST(Transforms, GradientsOfWhatDoesNotDependAreZero) {
  auto f = [](const Arrays& in) { return sum(in[0]); };
  expect_close(grad(f, 1)({sample({2}), sample({3})})[0], zeros({3}));
}

TEST(Transforms, GradWantsAScalar) {
  auto f = [](const array& x) { return x; };
  EXPECT_EQ(message_of([&] { grad(f)(zeros({2})); }),
            "[grad] The function must return a scalar, not an array of shape (2).");
}

TEST(Transforms, CustomRulesAreUsed) {
  auto fun = [](const Arrays& in) { return Arrays{multiply(in[0], in[1])}; };
  auto rule = [](const Arrays& in, const Arrays& c, const Arrays&) {
    return Arrays{multiply(array(10.0f), c[0]), multiply(c[0], in[0])};
  };
  auto f = custom_vjp(fun, rule);
  auto loss = [&](const Arrays& in) { return sum(f(in)[0]); };
  array a = sample({3}), b = sample({3}, -1, 1, 1);
  auto grads = grad(loss, {0, 1})({a, b});
  expect_close(grads[0], full({3}, 10.0f));
  expect_close(grads[1], a);
  // Missing rules are those of the function itself.
  expect_close(jvp(f, {a, b}, {ones({3}), zeros({3})}).second[0], b);
  expect_close(vmap(f)({a, b})[0], multiply(a, b));
}

TEST(Transforms, OneCustomRuleIsEnough) {
  auto fun = [](const Arrays& in) { return Arrays{square(in[0])}; };
  auto vjp_rule = [](const Arrays&, const Arrays& c, const Arrays&) {
    return Arrays{multiply(array(10.0f), c[0])};
  };
  auto jvp_rule = [](const Arrays&, const Arrays& t, const std::vector<int>&) {
    return Arrays{multiply(array(7.0f), t[0])};
  };
  auto vmap_rule = [](const Arrays& in, const std::vector<int>& axes) {
    return std::pair{Arrays{multiply(array(5.0f), in[0])}, axes};
  };
  array x = sample({3}), by_hand = multiply(array(2.0f), x);
  auto expect = [&](const auto& f, const array& vjp_want, const array& jvp_want,
                    const array& vmap_want) {
    expect_close(f({x})[0], square(x));
    expect_close(vjp(f, {x}, {ones({3})}).second[0], vjp_want);
    expect_close(jvp(f, {x}, {ones({3})}).second[0], jvp_want);
    expect_close(vmap(f)({x})[0], vmap_want);
  };
  const array sevens = full({3}, 7.0f), tens = full({3}, 10.0f), fives = multiply(array(5.0f), x);
  expect(custom_function(fun), by_hand, by_hand, square(x));
  expect(custom_function(fun, vjp_rule), tens, by_hand, square(x));
  expect(custom_function(fun, std::nullopt, jvp_rule), by_hand, sevens, square(x));
  expect(custom_function(fun, std::nullopt, std::nullopt, vmap_rule), by_hand, by_hand, fives);
}

TEST(Transforms, CustomRulesAreMappedToo) {
  auto fun = [](const Arrays& in) { return Arrays{sum(multiply(in[0], in[1]))}; };
  auto vjp_rule = [](const Arrays& in, const Arrays& c, const Arrays&) {
    return Arrays{multiply(array(10.0f), multiply(c[0], in[1])), multiply(c[0], in[0])};
  };
  auto jvp_rule = [](const Arrays&, const Arrays& t, const std::vector<int>&) {
    return Arrays{sum(multiply(array(7.0f), t[0]))};
  };
  auto f = vmap(custom_function(fun, vjp_rule, jvp_rule), {1, -1});
  array a = sample({4, 3}), b = sample({4}, -1, 1, 1);
  auto loss = [&](const Arrays& in) { return sum(f(in)[0]); };
  auto grads = grad(loss, {0, 1})({a, b});
  expect_close(grads[0], broadcast_to(multiply(array(10.0f), expand_dims(b, 1)), {4, 3}));
  expect_close(grads[1], sum(a, 1));
  auto by_first = [&](const Arrays& in) { return f({in[0], b}); };
  expect_close(jvp(by_first, {a}, {a}).second[0], multiply(array(7.0f), sum(a, 0)));
}

TEST(Transforms, CustomRulesMustFitTheArguments) {
  auto fun = [](const Arrays& in) { return Arrays{sum(in[0])}; };
  auto rule = [](const Arrays&, const Arrays& c, const Arrays&) { return Arrays{c[0]}; };
  auto f = custom_vjp(fun, rule);
  auto loss = [&](const Arrays& in) { return f(in)[0]; };
  EXPECT_NE(message_of([&] { grad(loss)({sample({3})}); }).find("[custom_function]"),
            std::string::npos);
}

TEST(Transforms, CheckpointComputesAgain) {
  int calls = 0;
  auto fun = [&](const Arrays& in) {
    calls += 1;
    return Arrays{sin(exp(in[0]))};
  };
  auto loss = [&](const Arrays& in) { return sum(checkpoint(fun)(in)[0]); };
  array x = sample({4});
  expect_close(grad(loss)({x})[0], multiply(exp(x), cos(exp(x))));
  EXPECT_EQ(calls, 2);
}

TEST(Transforms, CompiledFunctionsGiveTheSame) {
  auto fun = [](const Arrays& in) { return Arrays{exp(in[0])}; };
  array x = sample({4});
  expect_close(compile(fun)({x})[0], exp(x));
}

TEST(Transforms, FunctionsWithNumbersShareTheirGraphs) {
  int calls = 0;
  const auto twice = [&](const Arrays& x) {
    ++calls;
    return Arrays{x[0] + x[0]};
  };
  const std::uintptr_t number = 77;
  const auto check = [&](bool shapeless, std::vector<uint64_t> constants, int calls_until_now) {
    const auto compiled = detail::compile(twice, number, shapeless, std::move(constants));
    EXPECT_EQ(compiled({array(2.0f)})[0].item<float>(), 4);
    EXPECT_EQ(calls, calls_until_now);
  };
  check(false, {}, 1);
  check(false, {}, 1);
  check(false, {3}, 2);
  check(true, {}, 3);
  detail::compile_erase(detail::compile_cache(), number);
  check(false, {}, 4);
  detail::compile_clear_cache(detail::compile_cache());
  check(true, {}, 5);
}

TEST(Transforms, CompiledFunctionsKeepWhatTheyReturnBesidesArrays) {
  using detail::ArraysAndExtra;
  int calls = 0;
  const detail::ArrayFnWithExtra fun = [&](const std::vector<array>& x) {
    return ArraysAndExtra{{x[0] * x[0]}, std::make_shared<int>(++calls)};
  };
  const auto compiled = detail::compile(fun, 78, false, {});
  for (float x : {2.0f, 3.0f}) {
    const auto [arrays, extra] = compiled({array(x)});
    EXPECT_EQ(arrays[0].item<float>(), x * x);
    EXPECT_EQ(*std::static_pointer_cast<int>(extra), 1);
  }
}

TEST(Transforms, ComplexGradients) {
  // |z|^2 has the gradient 2z in the convention of steepest ascent.
  auto f = [](const array& z) { return sum(square(abs(z))); };
  array z = add(sample({3}), multiply(array(complex64_t(0, 1)), sample({3}, -1, 1, 1)));
  array g = grad(f)(z);
  EXPECT_EQ(g.dtype(), complex64);
  expect_close(real(g), multiply(array(2.0f), real(z)));
  expect_close(imag(g), multiply(array(2.0f), imag(z)));
}

}  // namespace mlx::core::test
