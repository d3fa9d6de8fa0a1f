// Shapes and types of operations, and their errors for wrong arguments. Nothing is evaluated.
#include <gtest/gtest.h>

#include "mlx/check.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "mlx/random.h"

namespace mlx::core::test {

TEST(Promotion, OfTypes) {
  EXPECT_EQ(promote_types(bool_, uint8), uint8);
  EXPECT_EQ(promote_types(int8, uint8), int16);
  EXPECT_EQ(promote_types(uint32, int32), int64);
  EXPECT_EQ(promote_types(int64, uint64), float32);
  EXPECT_EQ(promote_types(int64, float16), float16);
  EXPECT_EQ(promote_types(float16, bfloat16), float32);
  EXPECT_EQ(promote_types(float64, float16), float64);
  EXPECT_EQ(promote_types(complex64, int32), complex64);
}

TEST(Promotion, IsSymmetric) {
  const Dtype all[] = {bool_, uint8, uint16,  uint32,  uint64,  int8,     int16,
                       int32, int64, float16, float32, float64, bfloat16, complex64};
  for (Dtype a : all) {
    EXPECT_EQ(promote_types(a, a), a);
    for (Dtype b : all) {
      EXPECT_EQ(promote_types(a, b), promote_types(b, a))
          << dtype_to_string(a) << " " << dtype_to_string(b);
    }
  }
}

TEST(Categories, OfTypes) {
  EXPECT_TRUE(issubdtype(int8, signedinteger));
  EXPECT_TRUE(issubdtype(uint64, integer));
  EXPECT_TRUE(issubdtype(bfloat16, floating));
  EXPECT_TRUE(issubdtype(complex64, inexact));
  EXPECT_TRUE(issubdtype(bool_, generic));
  EXPECT_FALSE(issubdtype(bool_, number));
  EXPECT_FALSE(issubdtype(float32, complexfloating));
  EXPECT_TRUE(issubdtype(floating, number));
}

TEST(Shapes, Broadcast) {
  EXPECT_EQ(broadcast_shapes({3, 1}, {2, 1, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {2}), (Shape{2}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), (Shape{0}));
  EXPECT_EQ(message_of([] { broadcast_shapes({2, 3}, {4}); }),
            "[broadcast_shapes] Shapes (2,3) and (4) cannot be broadcast.");
}

TEST(Shapes, OfOperations) {
  array x = zeros({2, 3, 4});
  EXPECT_EQ(sum(x, std::vector<int>{0, -1}).shape(), (Shape{3}));
  EXPECT_EQ(sum(x, 1, true).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(reshape(x, {-1, 6}).shape(), (Shape{4, 6}));
  EXPECT_EQ(flatten(x, 1).shape(), (Shape{2, 12}));
  EXPECT_EQ(unflatten(x, -1, {2, -1}).shape(), (Shape{2, 3, 2, 2}));
  EXPECT_EQ(expand_dims(x, {0, -1}).shape(), (Shape{1, 2, 3, 4, 1}));
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(take(x, zeros({5, 6}, int32), 1).shape(), (Shape{2, 5, 6, 4}));
  EXPECT_EQ(matmul(x, zeros({4, 7})).shape(), (Shape{2, 3, 7}));
  EXPECT_EQ(matmul(x, zeros({4})).shape(), (Shape{2, 3}));
  EXPECT_EQ(tensordot(x, zeros({4, 3}), {2, 1}, {0, 1}).shape(), (Shape{2}));
  EXPECT_EQ(tile(x, {2, 1, 1, 3}).shape(), (Shape{2, 2, 3, 12}));
  EXPECT_EQ(pad(x, {{0, 1}, {2, 0}, {1, 1}}).shape(), (Shape{3, 5, 6}));
  EXPECT_EQ(split(x, Shape{1, 2}, 1)[2].shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(slice(x, Shape{0, 2, 0}, {2, -4, 4}, {1, -2, 3}).shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(einsum("ijk,lk->jl", {x, zeros({5, 4})}).shape(), (Shape{3, 5}));
  EXPECT_EQ(diagonal(x, 1, 1, 2).shape(), (Shape{2, 3}));
  EXPECT_EQ(arange(0, 10, 3).shape(), (Shape{4}));
  EXPECT_EQ(arange(10, 0, 3).shape(), (Shape{0}));
}

TEST(Types, OfOperations) {
  array i = zeros({2}, int8);
  EXPECT_EQ(exp(i).dtype(), float32);
  EXPECT_EQ(divide(i, i).dtype(), float32);
  EXPECT_EQ(sum(i, false).dtype(), int32);
  EXPECT_EQ(sum(zeros({2}, uint8), false).dtype(), uint32);
  EXPECT_EQ(sum(zeros({2}, bool_), false).dtype(), int32);
  EXPECT_EQ(mean(zeros({2}, float16), false).dtype(), float16);
  EXPECT_EQ(argmax(i, false).dtype(), uint32);
  EXPECT_EQ(abs(zeros({2}, complex64)).dtype(), float32);
  EXPECT_EQ(equal(i, i).dtype(), bool_);
  EXPECT_EQ(add(i, zeros({2}, bfloat16)).dtype(), bfloat16);
  EXPECT_EQ(arange(3).dtype(), int32);
}

TEST(Messages, NameTheOperationAndWhatWasGiven) {
  array x = zeros({2, 3});
  EXPECT_EQ(message_of([&] { reshape(x, {4, 2}); }),
            "[reshape] Cannot reshape array of size 6 into shape (4,2).");
  EXPECT_EQ(message_of([&] { sum(x, 2); }),
            "[sum] Axis 2 is out of bounds for an array with 2 dimensions.");
  EXPECT_EQ(message_of([&] { squeeze(x, 1); }),
            "[squeeze] Cannot squeeze axis 1 with size 3 which is not equal to 1.");
  EXPECT_EQ(message_of([&] { matmul(x, x); }),
            "[matmul] Last dimension of first input with shape (2,3) must match second to last "
            "dimension of second "
            "input with shape (2,3).");
  EXPECT_EQ(message_of([&] { negative(zeros({1}, bool_)); }),
            "[negative] Not supported for bool, use logical_not instead.");
  EXPECT_EQ(message_of([&] { max(zeros({0, 2}), 0); }),
            "[max] An axis of length 0 has no max: shape (0,2), axis 0.");
  EXPECT_NE(message_of([&] { as_strided(x, {3, 3}, {3, 1}, 0); }).find("reaches outside"),
            std::string::npos);
  EXPECT_NE(message_of([&] { take(x, x, 0); }).find("must be an integer type"), std::string::npos);
  EXPECT_NE(message_of([&] { split(x, 2, 1); }).find("[split]"), std::string::npos);
  EXPECT_NE(message_of([&] { random::bits({2}, 3); }).find("[bits]"), std::string::npos);
  EXPECT_NE(message_of([] { zeros({-1}); }).find("egative"), std::string::npos);
}

TEST(Primitives, KnowTheirOutputShapes) {
  array x = zeros({2, 3});
  for (const array& a : {sum(x, 1), transpose(x), expand_dims(x, 0), slice(x, {0, 0}, {2, 2}),
                         take(x, array({1}, int32), 0), matmul(x, transpose(x)), softmax(x, 1),
                         concatenate({x, x}, 0), pad(x, {1, 1})}) {
    EXPECT_EQ(a.primitive().output_shapes(a.inputs())[0], a.shape()) << a.primitive().name();
  }
}

TEST(Primitives, AreEquivalentIfTheirParametersAre) {
  array x = zeros({2, 3});
  EXPECT_TRUE(argmax(x, 1, true).primitive().is_equivalent(argmax(x, 1, true).primitive()));
  EXPECT_FALSE(argmax(x, 1, true).primitive().is_equivalent(argmax(x, 0, true).primitive()));
  EXPECT_STREQ(log2(x).primitive().name(), "Log");
}

}  // namespace mlx::core::test
