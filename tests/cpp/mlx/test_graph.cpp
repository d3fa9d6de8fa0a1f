// The lazy graph: building, evaluating, freeing.
#include <gtest/gtest.h>

#include <sstream>

#include "mlx/check.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "mlx/transforms.h"
#include "mlx/transforms_impl.h"

namespace mlx::core::test {

constexpr int kDeep = 100000;

TEST(Graph, ArraysHoldTheirValues) {
  EXPECT_EQ(array(3).item<int>(), 3);
  EXPECT_EQ(array(true).dtype(), bool_);
  EXPECT_EQ(array(2.5).dtype(), float32);
  EXPECT_EQ(array(7, uint64).item<uint64_t>(), 7u);
  array x({1.5f, 2.5f, 3.5f, 4.5f}, {2, 2});
  EXPECT_EQ(x.strides(), (Strides{2, 1}));
  EXPECT_TRUE(x.flags().row_contiguous);
  EXPECT_EQ(x.data<float>()[3], 4.5f);
  EXPECT_EQ(array({1.9f, -1.0f}, int32).data<int>()[0], 1);
  EXPECT_THROW(x.item<float>(), std::invalid_argument);
}

TEST(Graph, ArraysPrintThemselves) {
  auto text = [](const array& a) {
    std::ostringstream stream;
    stream << a;
    return stream.str();
  };
  EXPECT_EQ(text(array(1.5f)), "array(1.5, dtype=float32)");
  EXPECT_EQ(text(array({1, -20, 3, 4}, {2, 2})),
            "array([[  1, -20],\n       [  3,   4]], dtype=int32)");
  EXPECT_EQ(text(arange(2000)), "array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)");
  EXPECT_EQ(text(zeros({0, 2})), "array([], dtype=float32)");
}

TEST(Graph, TakesOverMemory) {
  bool freed = false;
  auto* memory = new int[3]{1, 2, 3};
  {
    array x(memory, {3}, int32, [&freed](void* p) {
      delete[] static_cast<int*>(p);
      freed = true;
    });
    EXPECT_EQ(values(x), (std::vector<double>{1, 2, 3}));
  }
  EXPECT_TRUE(freed);
}

TEST(Graph, MemoryThatIsNotTakenOverIsFreed) {
  int freed = 0;
  auto count = [&freed](void*) { ++freed; };
  int memory[1];
  EXPECT_THROW(array(memory, {-1}, int32, count), std::invalid_argument);
  EXPECT_EQ(freed, 1);
  // A null pointer means that memory is allocated: here, more than exists.
  EXPECT_THROW(array(nullptr, {1 << 25, 1 << 25}, int32, count), std::runtime_error);
  EXPECT_EQ(freed, 2);
}

TEST(Graph, IsLazyAndDetachesAfterEval) {
  array x = sample({4});
  array y = exp(x);
  EXPECT_TRUE(y.has_primitive());
  EXPECT_EQ(y.status(), array::Status::unscheduled);
  eval(y);
  EXPECT_TRUE(y.is_available());
  EXPECT_FALSE(y.has_primitive());
  EXPECT_TRUE(y.inputs().empty());
}

TEST(Graph, AsyncEvalSchedules) {
  array y = add(sample({4}), array(1.0f));
  async_eval(y);
  EXPECT_NE(y.status(), array::Status::unscheduled);
  y.wait();
  EXPECT_EQ(y.status(), array::Status::available);
}

TEST(Graph, DeepGraphsAreEvaluatedAndFreed) {
  array x(0);
  for (int i = 0; i < kDeep; ++i) {
    x = add(x, array(1));
  }
  EXPECT_EQ(x.item<int>(), kDeep);
}

TEST(Graph, DeepGraphsAreFreedWithoutEvaluation) {
  array x(0);
  for (int i = 0; i < kDeep; ++i) {
    x = divmod(x, array(1))[i % 2];
  }
  x = array(1);
  EXPECT_EQ(x.item<int>(), 1);
}

TEST(Graph, DeepGraphsHaveGradients) {
  auto f = [](const array& x) {
    array y = x;
    for (int i = 0; i < kDeep / 10; ++i) {
      y = add(y, x);
    }
    return y;
  };
  EXPECT_EQ(grad(f)(array(1.0f)).item<float>(), kDeep / 10 + 1);
}

TEST(Graph, MemoryIsReusedInPlace) {
  array x = sample({1024});
  eval(x);
  void* memory = x.data<void>();
  array y = negative(std::move(x));
  x = array(0);
  eval(y);
  EXPECT_EQ(y.data<void>(), memory);
}

TEST(Graph, SharedInputsAreNotOverwritten) {
  array x = sample({16});
  auto before = values(x);
  array y = exp(x);
  array z = negative(x);
  eval(y, z);
  EXPECT_EQ(values(x), before);
}

TEST(Graph, SiblingsComeBackWhenDropped) {
  array a = array({7, -7}, int32);
  array remainder_only = divmod(a, array(3))[1];
  EXPECT_EQ(remainder_only.num_siblings(), 1u);
  auto siblings = remainder_only.siblings();
  ASSERT_EQ(siblings.size(), 1u);
  EXPECT_EQ(values(siblings[0]), (std::vector<double>{2, -3}));
  EXPECT_EQ(values(remainder_only), (std::vector<double>{1, 2}));
}

TEST(Graph, PartsOfSplitNeedNotAllBeUsed) {
  array x = arange(6);
  array middle = split(x, 3, 0)[1];
  EXPECT_EQ(values(middle), (std::vector<double>{2, 3}));
}

TEST(Graph, StreamsWaitForEachOther) {
  Stream first = new_stream(Device::gpu);
  Stream second = new_stream(Device::gpu);
  Stream host = new_stream(Device::cpu);
  array x = ones({64, 64});
  for (int i = 0; i < 30; ++i) {
    array a = add(x, array(1.0f), first);
    array b = multiply(a, array(0.5f), second);
    x = maximum(b, array(1.0f), host);
  }
  EXPECT_EQ(max(x, false).item<float>(), 1.0f);
  synchronize(first);
  synchronize(second);
  synchronize(host);
}

TEST(Graph, DefaultsFollowTheContext) {
  Device before = default_device();
  {
    StreamContext context(Device(Device::cpu));
    EXPECT_EQ(default_device(), Device(Device::cpu));
    EXPECT_EQ(add(array(1), array(2)).primitive().device(), Device(Device::cpu));
  }
  EXPECT_EQ(default_device(), before);
  Stream stream = new_stream(before);
  {
    StreamContext context(stream);
    EXPECT_EQ(to_stream({}), stream);
  }
  EXPECT_NE(to_stream({}), stream);
}

TEST(Graph, IteratesOverTheFirstAxis) {
  array x = reshape(arange(6), {3, 2});
  int row = 0;
  for (auto part : x) {
    EXPECT_EQ(values(part), (std::vector<double>{2.0 * row, 2.0 * row + 1}));
    row += 1;
  }
  EXPECT_EQ(row, 3);
}

TEST(Graph, DependsOrdersEvaluation) {
  array x = exp(array(1.0f));
  array y = exp(array(2.0f));
  auto out = depends({x}, {y});
  eval(out);
  EXPECT_TRUE(y.is_available());
  expect_close(out[0], exp(array(1.0f)));
}

TEST(Graph, PlaceholdersCannotBeEvaluated) {
  auto f = [](const array& x) {
    array y = add(x, array(1.0f));
    eval(y);
    return y;
  };
  EXPECT_NE(message_of([&] { vmap(f)(sample({3})); }).find("function transformations"),
            std::string::npos);
}

}  // namespace mlx::core::test
