// Lazy arrays that several threads evaluate at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mlx/check.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "mlx/transforms.h"

namespace mlx::core::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 40;

// Calls f(thread) on all threads at once; rethrows an exception of one of them.
void at_once(const std::function<void(int)>& f) {
  std::barrier start(kThreads);
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        f(t);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

array chain(array x, int length) {
  for (int i = 0; i < length; ++i) x = add(x, array(1.0f));
  return x;
}

TEST(Sharing, OneArrayIsEvaluatedByManyThreads) {
  for (int round = 0; round < kRounds; ++round) {
    array x = chain(zeros({3}), 50);
    at_once([&](int t) {
      array mine = x;
      if (t % 2 == 0) async_eval(mine);
      mine.is_available();
      mine.eval();
      EXPECT_TRUE(mine.is_available());
      EXPECT_EQ(mine.data<float>()[2], 50);
    });
    EXPECT_FALSE(x.has_primitive());
    EXPECT_EQ(x.status(), array::Status::available);
  }
}

TEST(Sharing, GraphsOfManyThreadsHaveCommonParts) {
  Stream streams[] = {new_stream(Device::gpu), new_stream(Device::cpu)};
  for (int round = 0; round < kRounds; ++round) {
    array common = chain(full({8}, array(float(round))), 5);
    auto parts = divmod(chain(arange(8, float32), 3), array(4.0f));
    at_once([&](int t) {
      Stream s = streams[t % 2];
      array mine = add(multiply(common, array(float(t)), s), parts[t % 2], s);
      mine = subtract(chain(mine, t), parts[1], s);
      auto result = values(mine);
      for (int i = 0; i < 8; ++i) {
        double part = t % 2 ? (i + 3) % 4 : (i + 3) / 4;
        EXPECT_EQ(result[i], (round + 5.0) * t + part + t - (i + 3) % 4);
      }
    });
  }
}

TEST(Sharing, ArraysAreUsedWhileOthersEvaluateThem) {
  for (int round = 0; round < kRounds; ++round) {
    array weight = chain(full({4}, array(1.0f)), 4);
    at_once([&](int t) {
      if (t == 0) return weight.eval();
      if (t == 1) EXPECT_EQ(values(depends({weight}, {array(1)})[0])[0], 5);
      auto loss = [&](const array& x) { return sum(multiply(square(x), weight), false); };
      array x = t == 2 ? weight : full({4}, array(2.0f));
      EXPECT_EQ(values(grad(loss)(x))[3], t == 2 ? 50 : 20);
      auto custom = custom_function([&](const std::vector<array>&) { return std::vector{weight}; },
                                    [](const auto& primals, const auto&, const auto&) {
                                      return std::vector{zeros_like(primals[0])};
                                    });
      EXPECT_EQ(values(custom({x})[0])[0], 5);
    });
  }
}

// An array that a transformation follows keeps its graph, whichever thread evaluates it.
TEST(Sharing, TracedArraysAreEvaluatedElsewhere) {
  auto cube = [](const array& x) {
    array square = multiply(x, x);
    std::thread([square] { EXPECT_EQ(array(square).item<float>(), 9); }).join();
    return multiply(square, x);
  };
  EXPECT_EQ(grad(cube)(array(3.0f)).item<float>(), 27);
}

TEST(Sharing, AllThreadsGetTheError) {
  struct Failing : Primitive {
    using Primitive::Primitive;
    void eval_cpu(const std::vector<array>&, std::vector<array>&) override { fail(); }
    void eval_gpu(const std::vector<array>&, std::vector<array>&) override { fail(); }
    const char* name() const override { return "Failing"; }
    static void fail() { throw std::runtime_error("failed on purpose"); }
  };
  for (int round = 0; round < kRounds; ++round) {
    array x(Shape{2}, float32, std::make_shared<Failing>(default_stream(Device::gpu)), {ones({2})});
    std::atomic<int> errors{0};
    at_once([&](int t) {
      try {
        array(chain(x, t)).eval();
      } catch (const std::runtime_error& error) {
        errors += std::strcmp(error.what(), "failed on purpose") == 0;
      }
    });
    EXPECT_EQ(errors, kThreads);
  }
}

TEST(Sharing, DefaultDevicesAreSetByManyThreads) {
  const Device before = default_device();
  at_once([&](int t) {
    for (int i = 0; i < 100; ++i) {
      set_default_device(t % 2 ? Device::gpu : Device::cpu);
      EXPECT_EQ(default_device().index, 0);
    }
  });
  set_default_device(before);
}

}  // namespace
}  // namespace mlx::core::test
