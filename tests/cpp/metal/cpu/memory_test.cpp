// The device heap: placement, reuse, statistics, limits, threads.
#include "metal/cpu/runtime/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "emulated.h"
#include "metal/cpu/runtime/system.h"
#include "metal/sanitizers.h"

namespace metal::cpu {
namespace {

TEST(Heap, BlocksAreAlignedWritableAndApart) {
  Heap heap;
  std::map<char*, size_t> blocks;
  for (size_t size :
       {0, 1, 63, 64, 65, 200, 257, 1000, 4096, 5000, 32768, 32769, 100000, 3000000}) {
    for (int i = 0; i < 20; ++i) {
      auto* block = static_cast<char*>(heap.allocate(size));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % Heap::kAlignment, 0u);
      EXPECT_GE(heap.allocated_size(block), size);
      EXPECT_LE(heap.allocated_size(block), std::max<size_t>(64, size + size / 4 + 16384));
      std::memset(block, 1, size);
      blocks[block] = heap.allocated_size(block);
    }
  }
  char* end = nullptr;
  for (auto [block, size] : blocks) {
    EXPECT_GE(block, end);
    end = block + size;
  }
  for (auto [block, size] : blocks) heap.deallocate(block);
  EXPECT_EQ(heap.statistics().active, 0u);
}

TEST(Heap, FreedMemoryIsReused) {
  Heap heap;
  for (size_t size : {100u, 1u << 20}) {
    void* first = heap.allocate(size);
    heap.deallocate(first);
    EXPECT_EQ(heap.allocate(size), first);
    heap.deallocate(first);
  }
}

TEST(Heap, NeighboursJoin) {
  Heap heap;
  std::vector<void*> parts;
  for (int i = 0; i < 8; ++i) parts.push_back(heap.allocate(1 << 20));
  for (int i : {1, 3, 5, 7, 0, 2, 4, 6}) heap.deallocate(parts[i]);
  EXPECT_EQ(heap.allocate(8 << 20), parts[0]);
}

TEST(Heap, Statistics) {
  Heap heap;
  void* a = heap.allocate(1 << 20);
  void* b = heap.allocate(2 << 20);
  EXPECT_EQ(heap.statistics().active, 3u << 20);
  heap.deallocate(a);
  EXPECT_EQ(heap.statistics().active, 2u << 20);
  EXPECT_EQ(heap.statistics().cache, 1u << 20);
  EXPECT_EQ(heap.statistics().peak, 3u << 20);
  heap.reset_peak();
  EXPECT_EQ(heap.statistics().peak, 0u);
  heap.clear_cache();
  EXPECT_EQ(heap.statistics().cache, 0u);
  heap.deallocate(b);
  heap.deallocate(nullptr);
  void* small = heap.allocate(10);
  EXPECT_EQ(heap.statistics().active, 64u);
  heap.deallocate(small);
  EXPECT_EQ(heap.statistics().active, 0u);
  heap.clear_cache();
  EXPECT_EQ(heap.statistics().cache, 0u);
}

TEST(Heap, MemoryOfTheDeviceIsNotCounted) {
  Heap heap;
  void* counted = heap.allocate(100000);
  const uint64_t active = heap.statistics().active;
  auto* own = static_cast<char*>(heap.allocate_uncounted(40000));
  ASSERT_NE(own, nullptr);
  std::memset(own, 1, 40000);
  EXPECT_EQ(heap.statistics().active, active);
  EXPECT_EQ(heap.statistics().peak, active);
  heap.deallocate(counted);
  EXPECT_EQ(heap.statistics().active, 0);
  EXPECT_EQ(own[39999], 1);
  heap.deallocate_uncounted(own);
  EXPECT_EQ(heap.statistics().active, 0);
  EXPECT_GE(heap.statistics().cache, 40000u);
}

TEST(Heap, CacheLimit) {
  Heap heap;
  heap.set_cache_limit(4 << 20);
  std::vector<void*> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(heap.allocate(1 << 20));
  for (void* block : blocks) heap.deallocate(block);
  EXPECT_LE(heap.statistics().cache, 4u << 20);
  EXPECT_EQ(heap.set_cache_limit(0), 4u << 20);
  EXPECT_EQ(heap.statistics().cache, 0u);
}

TEST(Heap, CacheIsWhatCanBeGivenBack) {
  Heap heap;
  void* kept = heap.allocate(64);
  void* freed = heap.allocate(64);
  heap.deallocate(freed);  // its run is in use
  EXPECT_EQ(heap.statistics().cache, 0u);
  heap.deallocate(kept);
  EXPECT_EQ(heap.statistics().cache, 128u);
  kept = heap.allocate(64);
  EXPECT_EQ(heap.statistics().cache, 0u);
  heap.deallocate(kept);
  heap.set_cache_limit(0);
  EXPECT_EQ(heap.statistics().cache, 0u);
  for (size_t size : {64, 4096, 16384, 100000, 64}) {
    heap.deallocate(heap.allocate(size));
    EXPECT_EQ(heap.statistics().cache, 0u);
  }
}

TEST(Heap, MemoryLimit) {
  Heap heap;
  uint64_t before = heap.set_memory_limit(10 << 20);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(heap.memory_limit(), 10u << 20);
  void* block = heap.allocate(6 << 20);
  EXPECT_NE(block, nullptr);
  EXPECT_FALSE(heap.over_limit());
  void* beyond = heap.allocate(6 << 20);  // a guideline only
  EXPECT_NE(beyond, nullptr);
  EXPECT_TRUE(heap.over_limit());
  heap.deallocate(block);
  EXPECT_FALSE(heap.over_limit());
  EXPECT_LE(heap.statistics().cache, 4u << 20);  // what the limit leaves room for
  heap.deallocate(beyond);
  EXPECT_EQ(heap.set_memory_limit(0), 10u << 20);
  EXPECT_EQ(heap.statistics().cache, 0u);
  EXPECT_EQ(heap.allocate(SIZE_MAX), nullptr);
}

TEST(Heap, MarginsCanBeReadAndWritten) {
  Heap heap;
  auto* block = static_cast<volatile char*>(heap.allocate(100));
  auto margin = static_cast<int64_t>(Heap::kMargin);
  block[-margin] = 1;
  block[margin] = 1;
  EXPECT_EQ(block[margin - 1], 0);
}

TEST(Heap, ClearedRunsCanBeUsedAgain) {
  Heap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 10000; ++i) blocks.push_back(heap.allocate(200));
  void* kept = blocks[5000];
  for (void* block : blocks) {
    if (block != kept) heap.deallocate(block);
  }
  heap.clear_cache();
  std::memset(kept, 3, 200);
  for (int i = 0; i < 10000; ++i) {
    void* block = heap.allocate(200);
    ASSERT_NE(block, kept);
    std::memset(block, 4, 200);
  }
  EXPECT_EQ(static_cast<char*>(kept)[199], 3);
}

// Other blocks do not change the contents of a block.
void churn(Heap& heap, unsigned seed) {
  std::mt19937 random(seed);
  struct Block {
    uint32_t* data;
    size_t words;
    uint32_t mark;
  };
  std::vector<Block> blocks;
  auto drop = [&](size_t i) {
    Block block = blocks[i];
    for (size_t k : {size_t{0}, block.words / 2, block.words - 1}) {
      ASSERT_EQ(block.data[k], block.mark);
    }
    heap.deallocate(block.data);
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int step = 0; step < 4000; ++step) {
    if (blocks.size() > 100 || (random() % 3 == 0 && !blocks.empty())) {
      drop(random() % blocks.size());
      continue;
    }
    size_t words = random() % 8 ? 1 + random() % 2000 : 1 + random() % 300000;
    auto* data = static_cast<uint32_t*>(heap.allocate(words * 4));
    ASSERT_NE(data, nullptr);
    auto mark = static_cast<uint32_t>(random());
    for (size_t k : {size_t{0}, words / 2, words - 1}) data[k] = mark;
    blocks.push_back({data, words, mark});
    if (step % 500 == 0) heap.clear_cache();
  }
  while (!blocks.empty()) drop(0);
}

TEST(Heap, ManyThreads) {
  Heap heap;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&heap, i] { churn(heap, i); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(heap.statistics().active, 0u);
  heap.clear_cache();
  EXPECT_EQ(heap.statistics().cache, 0u);
}

#if !defined(METAL_ASAN) && !defined(METAL_TSAN)  // which need room themselves

// Where a process may have few addresses, one range after the other leaves some.
TEST(ReservedRange, LeavesAddresses) {
  SKIP_IF_EMULATED("it does not limit the addresses of what it runs");
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = pages * page_size() + (uint64_t{17} << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  {
    ReservedRange first, second;
    EXPECT_GE(first.size(), uint64_t{4} << 30);
    EXPECT_GE(second.size(), uint64_t{2} << 30);
    void* other = mmap(nullptr, size_t{2} << 30, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(other, MAP_FAILED);
    if (other != MAP_FAILED) munmap(other, size_t{2} << 30);
  }
  setrlimit(RLIMIT_AS, &before);
}

#endif

}  // namespace
}  // namespace metal::cpu
