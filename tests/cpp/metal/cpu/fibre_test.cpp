// Fibres when the system has no room for their stacks.
#include "metal/cpu/runtime/fibre.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <new>
#include <string>

#include "emulated.h"
#include "metal/cpu/runtime/runtime_calls.h"
#include "metal/cpu/runtime/system.h"
#include "metal/native_kernel.h"
#include "metal/sanitizers.h"

namespace metal::test {
namespace {

using cpu::Fibre;
using cpu::Group;

constexpr size_t kStack = 65536;

void never_runs(Fibre*) {}

// Whether a write just below the stack faults.
bool is_guarded(Fibre& fibre) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const auto* below = static_cast<const char*>(fibre.context()->stack) - 1;
  const bool readable = write(ends[1], below, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return !readable;
}

TEST(Fibre, HasAGuard) {
  Fibre fibre(kStack, 0, never_runs, nullptr);
  EXPECT_TRUE(is_guarded(fibre));
}

#if !defined(METAL_ASAN) && !defined(METAL_TSAN)  // which need room themselves

// Splits pages off until the process may have no more mappings; gives some back on demand.
class MappingFiller {
 public:
  explicit MappingFiller(size_t most) : size_((2 * most + 2) * cpu::page_size()) {
    base_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    while (last_ + 2 < size_ / cpu::page_size() && set(last_ + 1, PROT_READ)) last_ += 2;
  }
  ~MappingFiller() { munmap(base_, size_); }
  MappingFiller(const MappingFiller&) = delete;
  MappingFiller& operator=(const MappingFiller&) = delete;

  void give_back_one() {
    set(last_ - 1, PROT_NONE);
    last_ -= 2;
  }

 private:
  bool set(size_t page, int protection) {
    return mprotect(base_ + page * cpu::page_size(), cpu::page_size(), protection) == 0;
  }

  size_t size_;
  char* base_;
  size_t last_ = 0;
};

TEST(Fibre, WithoutAGuardThereIsNone) {
  size_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  ASSERT_GT(most, 0u);
  {
    MappingFiller filler(most);
    for (int free = 0; free < 8; ++free) {
      try {
        Fibre fibre(kStack, 0, never_runs, nullptr);
        EXPECT_TRUE(is_guarded(fibre)) << free;
      } catch (const std::bad_alloc&) {
        EXPECT_LT(free, 4);
      }
      filler.give_back_one();
    }
  }
  Fibre fibre(kStack, 0, never_runs, nullptr);
  EXPECT_TRUE(is_guarded(fibre));
}

void wait_for_all(const Group* group, uint32_t thread) {
  metal_cpu_barrier(group, 1, /*kThreadgroup=*/1, 1);
  argument<int>(group, 0)[thread] = 1;
}

TEST(Fibre, KernelsFailWhereStacksDo) {
  SKIP_IF_EMULATED("limits of memory are not those of the program");
  Data<int> data(1024);
  auto state = pipeline({.entry = wait_for_all, .has_barriers = true});
  // A queue of its own, whose thread has no stacks yet.
  auto queue = NS::TransferPtr(device()->newCommandQueue());
  auto run = [&](size_t threads) -> std::string {
    auto commands = NS::TransferPtr(queue->newCommandBuffer());
    auto encoder = NS::RetainPtr(commands->computeCommandEncoder());
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(data, 0, 0);
    encoder->dispatchThreads({threads, 1, 1}, {threads, 1, 1});
    commands->commit();
    commands->waitUntilCompleted();
    return commands->error() ? commands->error()->localizedDescription()->utf8String() : "";
  };
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  ASSERT_EQ(run(2), "");
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = pages * cpu::page_size() + (size_t{32} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const std::string error = run(1024);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_NE(error.find("for the stacks of its threads"), std::string::npos) << error;
  EXPECT_EQ(run(1024), "");
  EXPECT_EQ(data[1023], 1);
}

#endif

}  // namespace
}  // namespace metal::test
