// Launches of elementwise kernels that run together give what they give one after the other.
#include "metal/cpu/runtime/launch_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "metal/cpu/runtime/jit.h"
#include "metal/native_kernel.h"

namespace metal::cpu {
namespace {

constexpr uint32_t kThreads = Dispatch::kManyThreads + 1234;

const std::string kSource = R"(
  #include <metal_stdlib>
  using namespace metal;
  kernel void mix(const device uint* x [[buffer(0)]], const device uint* y [[buffer(1)]],
                  device uint* out [[buffer(2)]], constant uint& salt [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    out[i] = (x[i] ^ (y[i] >> 7)) * 747796405u + salt;
  }
  kernel void scale(const device uint* x [[buffer(0)]], const device uint* factor [[buffer(1)]],
                    device uint* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = x[i] * factor[0] + 1;
  }
  kernel void halves(const device ushort2* x [[buffer(0)]], device ushort2* out [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    out[i] = x[i].yx + ushort2(3, 5);
  }
  kernel void shift(const device uint* x [[buffer(0)]], device uint* out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    out[i] = x[i + 1];
  })";

NS::SharedPtr<MTL::ComputePipelineState> kernel(const char* name) {
  NS::Error* error = nullptr;
  static const auto library = NS::TransferPtr(test::device()->newLibrary(
      test::string(kSource.c_str()), static_cast<const MTL::CompileOptions*>(nullptr), &error));
  EXPECT_TRUE(library);
  auto function = NS::TransferPtr(library->newFunction(test::string(name)));
  return NS::TransferPtr(test::device()->newComputePipelineState(function.get(), &error));
}

// Launches on elements of one buffer, from places that may overlap; within a launch, places are the
// same or far enough apart.
class Launches {
 public:
  explicit Launches(uint32_t seed)
      : random_(seed), memory_(6 * kThreads), expected_(memory_.count) {
    for (size_t i = 0; i < memory_.count; ++i) memory_[i] = expected_[i] = random_();
    encoder_ = commands_->computeCommandEncoder();
  }

  void add_random() {
    const size_t to = place(), from = chance(3) ? to : place_apart(to), other = place_apart(to);
    const uint32_t salt = random_();
    switch (random_() % 4) {
      case 0:
        bind(mix_, {from, chance(3) ? to : other}, to, 2);
        encoder_->setBytes(&salt, sizeof(salt), 3);
        return run(
            [=, y = last_second_](const uint32_t* m, size_t i) {
              return (m[from + i] ^ (m[y + i] >> 7)) * 747796405u + salt;
            },
            to);
      case 1: {
        const size_t factor = chance(2) ? place_apart(to) : 5 * kThreads + random_() % 100;
        if (factor >= to && factor < to + kThreads) return;
        bind(scale_, {from, factor}, to, 2);
        return run([=](const uint32_t* m, size_t i) { return m[from + i] * m[factor] + 1; }, to);
      }
      case 2:
        bind(halves_, {from}, to, 1);
        return run(
            [=](const uint32_t* m, size_t i) {
              const uint32_t x = m[from + i];
              return (((x >> 16) + 3) & 0xffff) | (x + 5) << 16;
            },
            to);
      default:
        bind(shift_, {other}, to, 1);
        return run([=](const uint32_t* m, size_t i) { return m[other + i + 1]; }, to);
    }
  }

  void check() {
    encoder_->endEncoding();
    commands_->commit();
    commands_->waitUntilCompleted();
    ASSERT_EQ(commands_->status(), MTL::CommandBufferStatusCompleted);
    for (size_t i = 0; i < memory_.count; ++i) ASSERT_EQ(memory_[i], expected_[i]) << i;
  }

 private:
  bool chance(uint32_t n) { return random_() % n == 0; }

  // Few places, so that many are the same or overlap.
  size_t place() { return random_() % 3 * (kThreads + 8) + (chance(3) ? random_() % 4 : 0); }

  size_t place_apart(size_t from) {
    for (;;) {
      const size_t other = place();
      if (std::max(other, from) - std::min(other, from) > kThreads + 1) return other;
    }
  }

  void bind(const NS::SharedPtr<MTL::ComputePipelineState>& state, std::vector<size_t> inputs,
            size_t output, int index) {
    encoder_->setComputePipelineState(state.get());
    for (size_t i = 0; i < inputs.size(); ++i) encoder_->setBuffer(memory_, 4 * inputs[i], i);
    encoder_->setBuffer(memory_, 4 * output, index);
    last_second_ = inputs.back();
  }

  template <typename Function>
  void run(Function function, size_t to) {
    encoder_->dispatchThreads({kThreads, 1, 1}, {256, 1, 1});
    std::vector<uint32_t> results(kThreads);
    for (size_t i = 0; i < kThreads; ++i) results[i] = function(expected_.data(), i);
    std::ranges::copy(results, expected_.begin() + static_cast<ptrdiff_t>(to));
  }

  std::mt19937 random_;
  test::Data<uint32_t> memory_;
  std::vector<uint32_t> expected_;
  size_t last_second_ = 0;
  NS::SharedPtr<MTL::ComputePipelineState> mix_ = kernel("mix"), scale_ = kernel("scale"),
                                           halves_ = kernel("halves"), shift_ = kernel("shift");
  NS::SharedPtr<NS::AutoreleasePool> pool_ = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::CommandQueue> queue_ = NS::TransferPtr(test::device()->newCommandQueue());
  NS::SharedPtr<MTL::CommandBuffer> commands_ = NS::TransferPtr(queue_->newCommandBuffer());
  MTL::ComputeCommandEncoder* encoder_ = nullptr;
};

TEST(LaunchChain, RandomLaunches) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Launches launches(seed);
    for (int i = 0; i < 12; ++i) launches.add_random();
    launches.check();
    if (HasFatalFailure()) return;
  }
}

class Addition : public testing::Test {
 protected:
  bool add(const char* name, std::vector<void*> buffers, uint32_t threads = kThreads) {
    Kernel& kernel = *kernels_.emplace_back(std::make_unique<Kernel>());
    kernel.info = *program_->find(name);
    LaunchParameters parameters;
    std::ranges::copy(buffers, parameters.buffers);
    std::ranges::fill(parameters.buffer_bytes, memory_.size() * sizeof(uint32_t));
    parameters.threads_per_grid[0] = threads;
    parameters.threads_per_threadgroup[0] = 256;
    codes_.push_back(load_cpu_kernel(*program_, name, {}, CodeMode::Vector));
    return chain_.add(kernel, *codes_.back(), parameters);
  }

  std::shared_ptr<const Program> program_ = compile(kSource, {});
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::shared_ptr<CpuKernel>> codes_;
  std::vector<uint32_t> memory_ = std::vector<uint32_t>(4 * kThreads + 64);
  uint32_t* a = memory_.data();
  uint32_t* b = a + kThreads + 16;
  uint32_t* c = b + kThreads + 16;
  LaunchChain chain_;
};

TEST_F(Addition, LaunchesThatUseTheSameElements) {
  EXPECT_TRUE(add("halves", {a, b}));
  EXPECT_TRUE(add("halves", {b, c}));
  EXPECT_TRUE(add("mix", {a, c, c, b + kThreads}));
  EXPECT_TRUE(add("halves", {c, a}));
  chain_.run();
  EXPECT_TRUE(add("halves", {a, b}));
}

TEST_F(Addition, LaunchesThatUseOtherElements) {
  EXPECT_TRUE(add("halves", {a, b}));
  EXPECT_FALSE(add("halves", {b + 1, c}));    // reads what other threads write
  EXPECT_FALSE(add("halves", {c, a + 1}));    // overwrites what other threads read
  EXPECT_FALSE(add("halves", {c, b - 1}));    // overwrites what other threads write
  EXPECT_FALSE(add("scale", {a, b + 5, c}));  // all threads read what one writes
  EXPECT_FALSE(add("shift", {c, b}));         // not elementwise
  EXPECT_FALSE(add("halves", {b, c}, kThreads - 256));
  EXPECT_TRUE(add("scale", {b, b + kThreads, c}));
  chain_.run();
}

TEST_F(Addition, ChainsEndBeforeTheyTakeLong) {
  constexpr uint32_t kMany = 1 << 26;
  auto place = [](uintptr_t i) { return reinterpret_cast<void*>(i << 32); };  // nothing runs
  EXPECT_TRUE(add("halves", {place(1), place(2)}, kMany));
  EXPECT_TRUE(add("halves", {place(2), place(3)}, kMany));
  EXPECT_FALSE(add("halves", {place(3), place(4)}, kMany));
}

TEST_F(Addition, SmallLaunchesRunAtOnce) { EXPECT_FALSE(add("halves", {a, b}, 1000)); }

}  // namespace
}  // namespace metal::cpu
