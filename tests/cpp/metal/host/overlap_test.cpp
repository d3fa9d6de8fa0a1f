// Launches whose arguments share memory: one buffer bound twice, with offsets in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "metal/native_kernel.h"

namespace metal::test {
namespace {

constexpr int kThreads = 96;
constexpr int kPitch = 128;  // between the rows of two threads: no offset below reaches the next
constexpr int kCount = 16;   // numbers in a row
constexpr int kBase = 1024;  // where x is bound
constexpr int kResult = kBase + kThreads * kPitch + 512;  // where what is apart goes
constexpr int kSize = kResult + 1024;

// Each thread works on a row of its own, in program order. Through `out` it may change what it
// reads through `x` later.
constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
#define KERNEL(name)                                                                      \
  kernel void name(const device float* x [[buffer(0)]], device float* out [[buffer(1)]],  \
                   constant int& n [[buffer(2)]], uint i [[thread_position_in_grid]])
#define ROW const device float* a = x + i * 128; device float* o = out + i * 128;

KERNEL(chain) { ROW for (int k = 0; k < n; ++k) o[k] = a[k] + 1; }
KERNEL(chain_of_16) { ROW for (int k = 0; k < 16; ++k) o[k] = a[k] + 1; }
KERNEL(backward) { ROW for (int k = n - 1; k >= 0; --k) o[k] = a[k] * 2 - a[0]; }
KERNEL(hoisted) { ROW for (int k = 0; k < n; ++k) o[k] += a[3]; }
KERNEL(sums) {
  ROW
  for (int k = 0; k < n; ++k) {
    float sum = 0;
    for (int m = 0; m < n; ++m) sum += a[m] * (m == k ? 2 : 1);
    o[k] = clamp(sum, -50.0f, 50.0f);
  }
}
KERNEL(read_back) {
  ROW
  o[0] = a[1]; o[1] = a[2]; o[2] = a[0];
  const float before = a[5];
  o[5] = before + 1;
  o[6] = a[5] - before;
}
KERNEL(vectors) {
  ROW
  for (int k = 0; k < n / 4; ++k) {
    const packed_float4 v = ((const device packed_float4*)a)[k];
    ((device packed_float4*)o)[k] = float4(v).wzyx + a[4 * k];
  }
}
KERNEL(guarded) {
  ROW
  for (int k = 0; k < n; ++k) {
    if (a[k] > float(i % 7)) o[k] = a[k] - 3; else o[k + 1] = a[k + 1] + 0.5f;
  }
}
KERNEL(bytes) {
  ROW
  const device uchar* from = (const device uchar*)a;
  device uchar* to = (device uchar*)o;
  for (int k = 0; k < 4 * n; ++k) to[k] = from[k];
}
KERNEL(elements) { out[i] = x[i] * 2 + 1; }
KERNEL(wait) {
  const float v = x[i], w = x[i + 3];
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = v + w;
  threadgroup_barrier(mem_flags::mem_device);
  const float again = x[i] + 1;
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = again;
}
// Counts in cells. All threads read the cells through x before they write the sums after them.
template <typename T>
void count_in(const device float* x, device float* out, uint i, uint cells) {
  atomic_fetch_add_explicit((device atomic<T>*)out + i % cells, T(1), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device);
  const T counted = ((const device T*)x)[i % 40];
  threadgroup_barrier(mem_flags::mem_device);
  out[64 + i] = float(counted);
}
KERNEL(count_whole) { count_in<uint>(x, out, i, 5); }
KERNEL(count_float) { count_in<float>(x, out, i, 5); }
KERNEL(count_rows) { count_in<float>(x, out, i, 32); }
// Counts what x had before the thread changed it through `out`.
KERNEL(tally) {
  threadgroup atomic_int own[16];
  if (i < 16) atomic_store_explicit(&own[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int value = ((const device int*)x)[i];
  ((device int*)out)[i] = 1 << 30;
  atomic_fetch_add_explicit(&own[value], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) out[1024 + i] = atomic_load_explicit(&own[i], memory_order_relaxed);
}
// Only the addition uses `out`. Each thread reads the sums through x.
kernel void read_own(const device float* x [[buffer(0)]], device float* out [[buffer(1)]],
                     constant int& n [[buffer(2)]], device float* result [[buffer(3)]],
                     uint i [[thread_position_in_grid]]) {
  for (int turn = 1; turn < 4; ++turn) {
    atomic_fetch_add_explicit((device atomic_float*)out + i, float(turn), memory_order_relaxed);
    result[i] += x[i + n] * 10;
  }
}
)";

using Row = std::function<void(const float* a, float* o, int n, int i)>;

void copy_bytes(const float* a, float* o, int n) {
  const auto* from = reinterpret_cast<const volatile unsigned char*>(a);
  auto* to = reinterpret_cast<volatile unsigned char*>(o);
  for (int k = 0; k < 4 * n; ++k) to[k] = from[k];
}

// The same in C++, where a and o may overlap, too.
const std::vector<std::pair<const char*, Row>> kRows = {
    {"chain",
     [](const float* a, float* o, int n, int) {
       for (int k = 0; k < n; ++k) o[k] = a[k] + 1;
     }},
    {"chain_of_16",
     [](const float* a, float* o, int, int) {
       for (int k = 0; k < 16; ++k) o[k] = a[k] + 1;
     }},
    {"backward",
     [](const float* a, float* o, int n, int) {
       for (int k = n - 1; k >= 0; --k) o[k] = a[k] * 2 - a[0];
     }},
    {"hoisted",
     [](const float* a, float* o, int n, int) {
       for (int k = 0; k < n; ++k) o[k] += a[3];
     }},
    {"sums",
     [](const float* a, float* o, int n, int) {
       for (int k = 0; k < n; ++k) {
         float sum = 0;
         for (int m = 0; m < n; ++m) sum += a[m] * (m == k ? 2.0f : 1.0f);
         o[k] = std::clamp(sum, -50.0f, 50.0f);
       }
     }},
    {"read_back",
     [](const float* a, float* o, int, int) {
       o[0] = a[1];
       o[1] = a[2];
       o[2] = a[0];
       const float before = a[5];
       o[5] = before + 1;
       o[6] = a[5] - before;
     }},
    {"vectors",
     [](const float* a, float* o, int n, int) {
       for (int k = 0; k < n; k += 4) {
         const float v[4] = {a[k], a[k + 1], a[k + 2], a[k + 3]};
         for (int c = 0; c < 4; ++c) o[k + c] = v[3 - c] + v[0];
       }
     }},
    {"guarded",
     [](const float* a, float* o, int n, int i) {
       for (int k = 0; k < n; ++k) {
         if (a[k] > static_cast<float>(i % 7)) {
           o[k] = a[k] - 3;
         } else {
           o[k + 1] = a[k + 1] + 0.5f;
         }
       }
     }},
    {"bytes", [](const float* a, float* o, int n, int) { copy_bytes(a, o, n); }},
};

class OverlappingBuffers : public testing::Test {
 protected:
  void SetUp() override {
    NS::Error* error = nullptr;
    auto* source = NS::String::string(kSource, NS::UTF8StringEncoding);
    library_ = NS::TransferPtr(device()->newLibrary(source, nullptr, &error));
    ASSERT_TRUE(library_) << error->localizedDescription()->utf8String();
    for (size_t i = 0; i < start_.size(); ++i) start_[i] = static_cast<float>((i * 37) % 23) - 5;
  }

  NS::SharedPtr<MTL::ComputePipelineState> load(const char* name) {
    NS::Error* error = nullptr;
    auto function =
        NS::TransferPtr(library_->newFunction(NS::String::string(name, NS::UTF8StringEncoding)));
    return NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
  }

  // Binds x at kBase and `out` at an offset from it. Returns the contents of the memory afterwards.
  std::vector<float> launch(const std::vector<const char*>& names, int offset, int threads,
                            int group) {
    Data<float> memory(kSize);
    std::copy(start_.begin(), start_.end(), memory.values);
    auto queue = NS::TransferPtr(device()->newCommandQueue());
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    for (const char* name : names) {
      auto state = load(name);
      encoder->setComputePipelineState(state.get());
      encoder->setBuffer(memory, kBase * sizeof(float), 0);
      encoder->setBuffer(memory, (kBase + offset) * sizeof(float), 1);
      encoder->setBytes(&kCount, sizeof(kCount), 2);
      encoder->setBuffer(memory, kResult * sizeof(float), 3);
      encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(group, 1, 1));
    }
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->error(), nullptr);
    return {memory.values, memory.values + kSize};
  }

  NS::SharedPtr<NS::AutoreleasePool> pool_ = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Library> library_;
  std::vector<float> start_ = std::vector<float>(kSize);
};

TEST_F(OverlappingBuffers, RowsOfOneThread) {
  for (const auto& [name, row] : kRows) {
    for (int offset : {0, 1, 2, 3, 4, 5, 15, 16, 17, 32, -1, -2, -4, -15, -33}) {
      std::vector<float> want = start_;
      float* x = want.data() + kBase;
      for (int i = 0; i < kThreads; ++i) row(x + i * kPitch, x + offset + i * kPitch, kCount, i);
      EXPECT_TRUE(launch({name}, offset, kThreads, 64) == want) << name << " at " << offset;
    }
  }
}

TEST_F(OverlappingBuffers, ElementsInPlaceAndApart) {
  constexpr int kMany = 1000;
  for (int offset : {0, kMany, -kMany, kMany + 3}) {
    std::vector<float> want = start_;
    for (int i = 0; i < kMany; ++i) want[kBase + offset + i] = start_[kBase + i] * 2 + 1;
    EXPECT_TRUE(launch({"elements"}, offset, kMany, 256) == want) << offset;
  }
}

TEST_F(OverlappingBuffers, ThreadsOfOneThreadgroup) {
  for (int threads : {20, 32, 300}) {
    for (int offset : {0, 1, 2, 3, 31, 32, 33, 100, -1, -32, -45}) {
      std::vector<float> want = start_;
      float *x = want.data() + kBase, *out = x + offset;
      for (int i = 0; i < threads; ++i) out[i] = start_[kBase + i] + start_[kBase + i + 3];
      const std::vector<float> between = want;
      for (int i = 0; i < threads; ++i) out[i] = between[kBase + i] + 1;
      EXPECT_TRUE(launch({"wait"}, offset, threads, threads) == want)
          << threads << " at " << offset;
    }
  }
}

TEST_F(OverlappingBuffers, IndicesOfThreadgroupMemoryAreReadBeforeTheyChange) {
  constexpr int kMany = 64;
  for (int i = 0; i < kMany; ++i) start_[kBase + i] = std::bit_cast<float>(i * 7 % 16);
  for (int offset : {0, kMany, -kMany}) {
    const std::vector<float> got = launch({"tally"}, offset, kMany, kMany);
    for (int bin = 0; bin < 16; ++bin)
      ASSERT_EQ(got[kBase + offset + 1024 + bin], kMany / 16) << bin << " at " << offset;
  }
}

TEST_F(OverlappingBuffers, AtomicsAreSeenThroughTheOtherArgument) {
  constexpr int kMany = 320;
  std::fill(start_.begin(), start_.end(), 0.0f);
  for (const auto& [name, cells] :
       std::map<const char*, int>{{"count_whole", 5}, {"count_float", 5}, {"count_rows", 32}}) {
    for (int offset : {0, 1, 3, 32, -2}) {
      const std::vector<float> got = launch({name}, offset, kMany, kMany);
      for (int i = 0; i < kMany; ++i) {
        const int cell = i % 40 - offset;
        const int wanted = cell >= 0 && cell < cells ? kMany / cells : 0;
        ASSERT_EQ(got[kBase + offset + 64 + i], static_cast<float>(wanted))
            << name << " at " << offset << ", thread " << i;
      }
    }
  }
}

TEST_F(OverlappingBuffers, AThreadSeesItsOwnAdditions) {
  std::fill(start_.begin(), start_.end(), 0.0f);
  const std::vector<float> got = launch({"read_own"}, kCount, 1000, 128);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(got[kBase + kCount + i], 6.0f) << i;
    ASSERT_EQ(got[kResult + i], 100.0f) << i;
  }
}

TEST_F(OverlappingBuffers, LaunchesOneAfterTheOther) {
  constexpr int kMany = 1000;
  std::vector<float> want = start_;
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<float> before = want;
    for (int i = 0; i < kMany; ++i) want[kBase + i] = before[kBase + i] * 2 + 1;
  }
  EXPECT_TRUE(launch({"elements", "elements", "elements"}, 0, kMany, 64) == want);
}

}  // namespace
}  // namespace metal::test
