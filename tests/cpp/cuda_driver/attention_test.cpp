// Tests the graph of attention that cuDNN gets, with a fake library.
#include "metal/attention.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "cuda_driver/fake_cudnn.h"
#include "cuda_driver/library_test.h"

namespace metal::test {
namespace {

float as_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

class AttentionTest : public LibraryTest<FakeCudnn> {
 protected:
  AttentionTest() : LibraryTest("libcudnn.so.9", kFakeCudnn) {}

  void SetUp() override {
    LibraryTest::SetUp();
    for (int b = 0; b < 5; ++b) {
      buffers_[b] = new_buffer<uint16_t>(8192);
      for (int i = 0; i < 4096; ++i) {
        const float number = static_cast<float>((i * 7 + b * 3) % 11) / 4 - 1;
        buffers_[b][i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16);
      }
    }
  }

  // Two batches of four heads, two of which share one of the keys; queries are (batch, position,
  // head) in memory.
  static Attention small(int64_t queries, int64_t keys, bool causal) {
    constexpr int64_t kDepth = 8;
    Attention a{.type = MatrixType::Bfloat16,
                .batches = 2,
                .heads = 4,
                .sharing = 2,
                .queries = queries,
                .keys = keys,
                .depth = kDepth,
                .scale = 0.5f,
                .causal = causal};
    a.query_steps = {queries * 4 * kDepth, kDepth, 4 * kDepth};
    a.key_steps = a.value_steps = {2 * keys * kDepth, keys * kDepth, kDepth};
    a.output_steps = {4 * queries * kDepth, queries * kDepth, kDepth};
    return a;
  }

  void run(const Attention& a) {
    const auto plan = driver_.plan(a);
    if (!plan) throw std::runtime_error("there is no plan");
    const LibraryCall call{"attention",
                           [&](void* queue, void* const* buffers) { plan->start(queue, buffers); }};
    LaunchParameters parameters;
    for (int i = 0; i < 5; ++i) parameters.buffers[i] = buffers_[i];
    stream_->start(call, parameters);
    stream_->wait();
  }

  float at(int buffer, const Attention::Steps& steps, int64_t batch, int64_t head, int64_t position,
           int64_t i) const {
    return as_float(
        buffers_[buffer][batch * steps.batch + head * steps.head + position * steps.position + i]);
  }

  // The attention of one query, from its definition.
  std::vector<double> expected(const Attention& a, int64_t batch, int64_t head,
                               int64_t query) const {
    std::vector<double> sums(static_cast<size_t>(a.depth));
    const int64_t seen = a.causal ? query + a.keys - a.queries + 1 : a.keys;
    double total = 0;
    for (int64_t key = 0; key < seen; ++key) {
      double score = 0;
      for (int64_t i = 0; i < a.depth; ++i) {
        score += at(0, a.query_steps, batch, head, query, i) *
                 at(1, a.key_steps, batch, head / a.sharing, key, i);
      }
      const double weight = std::exp(score * a.scale);
      total += weight;
      for (int64_t i = 0; i < a.depth; ++i)
        sums[i] += weight * at(2, a.value_steps, batch, head / a.sharing, key, i);
    }
    for (double& sum : sums) sum /= total;
    return sums;
  }

  void expect_as_defined(const Attention& a) {
    run(a);
    for (int64_t batch = 0; batch < a.batches; ++batch)
      for (int64_t head = 0; head < a.heads; ++head)
        for (int64_t query = 0; query < a.queries; ++query) {
          const std::vector<double> want = expected(a, batch, head, query);
          for (int64_t i = 0; i < a.depth; ++i) {
            ASSERT_NEAR(at(3, a.output_steps, batch, head, query, i), want[i], 0.01)
                << batch << " " << head << " " << query << " " << i;
          }
        }
  }

  uint16_t* buffers_[5] = {};  // queries, keys, values, output, workspace
};

TEST_F(AttentionTest, AllKeysAreSeen) { expect_as_defined(small(5, 7, false)); }

TEST_F(AttentionTest, CausalQueriesSeeTheKeysBefore) { expect_as_defined(small(6, 6, true)); }

TEST_F(AttentionTest, TheLastCausalQuerySeesAllKeys) { expect_as_defined(small(3, 9, true)); }

TEST_F(AttentionTest, TheWorkspaceIsAligned) {
  run(small(5, 7, false));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(fake_->workspace) % 256, 0u);
}

TEST_F(AttentionTest, DescriptionsAreGivenBack) {
  run(small(5, 7, true));
  EXPECT_EQ(fake_->descriptions, 0);
}

TEST_F(AttentionTest, ThereIsNoPlanForWhatTheLibraryRefuses) {
  Attention attention = small(5, 7, true);
  attention.type = MatrixType::Float16;
  EXPECT_EQ(driver_.plan(attention), nullptr);
  EXPECT_EQ(fake_->descriptions, 0);
}

TEST_F(AttentionTest, AnErrorOfTheLibraryIsThatOfTheCall) {
  fake_->result = static_cast<cuda::CudnnStatus>(3000);
  try {
    run(small(5, 7, false));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "NVIDIA's cuDNN is unable to compute a graph of operations: an error of the fake");
  }
}

}  // namespace
}  // namespace metal::test
