// Kernels that trap, never end or are stopped raise an error; the process and later launches
// continue.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstdlib>
#include <thread>

#include "emulated.h"
#include "metal/cpu/runtime/runtime_calls.h"
#include "metal/driver.h"
#include "metal/native_kernel.h"
#include "metal/sanitizers.h"

// Stands for a compiled kernel, which sanitizers do not instrument.
#if defined(__clang__)
#define KERNEL __attribute__((no_sanitize("address", "thread", "undefined"), noinline))
#else
#define KERNEL __attribute__((no_sanitize("address", "thread", "undefined", "null"), noinline))
#endif

namespace metal::test {
namespace {

using cpu::Group;

KERNEL void fill(const Group* group, uint32_t thread) {
  Position at(group, thread);
  argument<float>(group, 0)[at.linear] = 1;
}

void expect_launches_work() {
  for (bool barriers : {false, true}) {
    Data<float> out(50000);
    ASSERT_EQ(run({.entry = fill, .has_barriers = barriers}, {out}, {50000, 1, 1}, {250, 1, 1}),
              "");
    for (size_t i = 0; i < out.count; ++i) ASSERT_EQ(out[i], 1.0f);
  }
}

// Runs the kernel in every granularity, on one and on many threadgroups.
void expect_errors(cpu::EntryPoint entry, std::initializer_list<const char*> parts) {
  for (bool barriers : {false, true}) {
    for (size_t grid : {size_t{64}, size_t{100000}}) {
      Data<float> out(grid);
      NativeKernel kernel{.name = "culprit", .entry = entry, .has_barriers = barriers};
      std::string error = run(kernel, {out}, {grid, 1, 1}, {64, 1, 1});
      EXPECT_NE(error.find("[culprit]"), std::string::npos) << error;
      for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << error;
    }
  }
}

void expect_error(cpu::EntryPoint entry, std::initializer_list<const char*> parts) {
  expect_errors(entry, parts);
  expect_launches_work();
}

volatile uintptr_t near_null = 0x10;

KERNEL void write_null(const Group* group, uint32_t thread) {
  metal_cpu_barrier(group, 1, 1, 0);
  if (thread == 1) *reinterpret_cast<volatile int*>(near_null) = 1;
  metal_cpu_barrier(group, 2, 1, 0);
}

TEST(Faults, NullPointer) {
  expect_error(write_null,
               {"invalid memory access (write) at address 0x10, near no buffer of the kernel",
                "in threadgroup (", ", thread (1, 0, 0), which is thread ("});
}

KERNEL void write_far(const Group* group, uint32_t) {
  argument<volatile char>(group, 0)[-(int64_t{1} << 43)] = 1;
}

TEST(Faults, FarOutsideOfEveryBuffer) {
  expect_error(write_far, {"invalid memory access", "near no buffer of the kernel"});
}

// A buffer that fills a page between two inaccessible pages.
class GuardedPage {
 public:
  static constexpr size_t kSize = 65536;

  explicit GuardedPage(int protection = PROT_READ | PROT_WRITE)
      : memory_(static_cast<char*>(mmap(nullptr, 3 * kSize, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        buffer_(NS::TransferPtr(
            device()->newBuffer(memory_ + kSize, kSize, MTL::ResourceStorageModeShared, nullptr))) {
    EXPECT_EQ(mprotect(memory_ + kSize, kSize, protection), 0);
  }
  ~GuardedPage() { munmap(memory_, 3 * kSize); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  operator const MTL::Buffer*() const { return buffer_.get(); }

 private:
  char* memory_;
  NS::SharedPtr<MTL::Buffer> buffer_;
};

// One thread accesses one byte of the first buffer. The second buffer says which thread, where and
// how.
KERNEL void touch_byte(const Group* group, uint32_t thread) {
  metal_cpu_barrier(group, 1, 1, 0);
  const Position at(group, thread);
  const auto* order = argument<const int64_t>(group, 1);
  if (at.x == order[0] && at.y == order[1]) {
    auto* place = argument<volatile char>(group, 0) + order[2];
    if (order[3]) *place = 1;
    (void)*place;
  }
  metal_cpu_barrier(group, 2, 1, 0);
}

constexpr const char* kTouchingThread =
    ", in threadgroup (3, 1, 0), thread (5, 1, 0), which is thread (197, 3, 0) of the grid";

std::string touch_error(const GuardedPage& page, int64_t offset, bool write, bool barriers,
                        const char* name = "data") {
  ArgumentInfo data;
  data.name = name;
  data.writable = true;
  const NativeKernel kernel{
      .name = "culprit", .entry = touch_byte, .has_barriers = barriers, .arguments = {data}};
  Data<int64_t> order(4);
  order[0] = 197;
  order[1] = 3;
  order[2] = offset;
  order[3] = write;
  // The last threadgroup of a row has 8 x 2 threads.
  return run(kernel, {page, order}, {200, 4, 1}, {64, 2, 1});
}

TEST(Faults, AccessBufferAndThreadAreNamed) {
  const GuardedPage page;
  for (bool barriers : {false, true}) {
    for (bool write : {false, true}) {
      const std::string access =
          write ? "[culprit] The kernel was stopped: invalid memory access (write) at address 0x"
                : "[culprit] The kernel was stopped: invalid memory access (read) at address 0x";
      const std::string nearest = write ? "its nearest writable buffer" : "its nearest buffer";
      auto expect = [&](int64_t offset, const std::string& place) {
        const std::string error = touch_error(page, offset, write, barriers);
        EXPECT_EQ(error.find(access), 0u) << error;
        EXPECT_TRUE(
            error.ends_with(place + " \"data\" (65536 bytes, " + nearest + ")" + kTouchingThread))
            << error;
      };
      expect(-100, ", 100 bytes before the start of");
      expect(-1, ", 1 byte before the start of");
      expect(GuardedPage::kSize, ", 0 bytes behind the end of");
      expect(GuardedPage::kSize + 1000, ", 1000 bytes behind the end of");
    }
  }
  expect_launches_work();
}

TEST(Faults, MemoryInsideOfABufferThatCannotBeWritten) {
  const GuardedPage page(PROT_READ);
  EXPECT_EQ(touch_error(page, 12, false, false), "");
  const std::string error = touch_error(page, 12, true, false, "");
  EXPECT_NE(error.find(", at byte 12 of buffer 0 (65536 bytes), whose memory cannot be written, in "
                       "threadgroup"),
            std::string::npos)
      << error;
}

// Code for a whole threadgroup does not record the thread.
KERNEL void trap_group(const Group* group, uint32_t) {
  if (group->position[0] == 2) __builtin_trap();
}

TEST(Faults, CodeForManyThreadsNamesTheThreadgroup) {
  const NativeKernel kernel{
      .name = "culprit", .entry = trap_group, .granularity = cpu::Granularity::Group};
  const std::string error = run(kernel, {}, {640, 1, 1}, {64, 1, 1});
  EXPECT_TRUE(
      error.ends_with("trap, in threadgroup (2, 0, 0); MLX_CPU_REFERENCE=1 finds the thread"))
      << error;
}

KERNEL void impossible_address(const Group*, uint32_t) {
  *reinterpret_cast<volatile char*>(uintptr_t{0x8000000000000000}) = 1;
}

TEST(Faults, ImpossibleAddress) { expect_error(impossible_address, {"invalid memory access"}); }

KERNEL void trap(const Group*, uint32_t) { __builtin_trap(); }

TEST(Faults, Trap) { expect_error(trap, {"trap"}); }

#if defined(__x86_64__)
KERNEL void divide(const Group* group, uint32_t) {
  int quotient = 1, rest = 0, zero = static_cast<int>(group->position[1]);
  asm volatile("idivl %2" : "+a"(quotient), "+d"(rest) : "r"(zero));
}

TEST(Faults, DivisionThatTraps) { expect_error(divide, {"arithmetic trap"}); }
#endif

KERNEL int recurse(volatile char* above, int depth);
int (*volatile go_deeper)(volatile char*, int) = recurse;

KERNEL int recurse(volatile char* above, int depth) {
  volatile char frame[512];
  for (int i = 0; i < 512; i += 64) frame[i] = static_cast<char>(depth + (above ? above[0] : 0));
  return go_deeper(frame, depth + 1) + frame[64];
}

KERNEL void overflow(const Group* group, uint32_t thread) {
  metal_cpu_barrier(group, 1, 1, 0);
  if (thread == 1) argument<volatile float>(group, 0)[0] = static_cast<float>(recurse(nullptr, 0));
  metal_cpu_barrier(group, 2, 1, 0);
}

TEST(Faults, StackOverflow) { expect_error(overflow, {"stack overflow"}); }

// Reads before, after and between buffers return some value.
KERNEL void read_around(const Group* group, uint32_t thread) {
  float sum = 0;
  for (int64_t distance : {64, 4096, 100000, 16000000}) {
    sum += argument<volatile float>(group, 0)[-distance];
    sum += argument<volatile float>(group, 0)[distance];
  }
  argument<float>(group, 0)[thread] = sum * 0 == 0 ? 1 : 2;
}

TEST(Faults, NearMissesAreHarmless) {
  Data<float> small(32);
  EXPECT_EQ(run({.entry = read_around}, {small}, {32, 1, 1}, {32, 1, 1}), "");
  Data<float> large(1 << 20);
  EXPECT_EQ(run({.entry = read_around}, {large}, {32, 1, 1}, {32, 1, 1}), "");
}

KERNEL void spin(const Group* group, uint32_t thread) {
  if (thread == 5) metal_cpu_barrier(group, 1, 1, 0);
  for (;;) asm volatile("" ::: "memory");
}

// It never ends, but is always in the runtime.
KERNEL void spin_at_barriers(const Group* group, uint32_t) {
  for (;;) metal_cpu_barrier(group, 1, 1, 0);
}

struct TimeLimit {
  explicit TimeLimit(const char* seconds) { setenv("MLX_KERNEL_TIME_LIMIT", seconds, 1); }
  ~TimeLimit() { unsetenv("MLX_KERNEL_TIME_LIMIT"); }
};

TEST(Faults, TimeLimit) {
  {
    TimeLimit limit("0.02");
    expect_errors(spin, {"time limit of 0.02 seconds"});
  }
  expect_launches_work();
}

TEST(Faults, TimeLimitAtBarriers) {
  {
    TimeLimit limit("0.02");
    NativeKernel kernel{.entry = spin_at_barriers, .has_barriers = true};
    std::string error = run(kernel, {}, {100000, 1, 1}, {256, 1, 1});
    EXPECT_NE(error.find("time limit"), std::string::npos) << error;
  }
  expect_launches_work();
}

TEST(Faults, ShortKernelsKeepTheTimeLimit) {
  TimeLimit limit("100");
  expect_launches_work();
}

TEST(Faults, InterruptFromAnotherThread) {
  for (size_t grid : {size_t{32}, size_t{100000}}) {
    // Interrupts until it has an effect: the first one may come before the launch.
    std::atomic<bool> ended = false;
    std::thread other([&] {
      while (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        interrupt();
      }
    });
    std::string error = run({.name = "endless", .entry = spin}, {}, {grid, 1, 1}, {32, 1, 1});
    ended = true;
    other.join();
    EXPECT_EQ(error, "[endless] The kernel was interrupted");
  }
  expect_launches_work();
}

TEST(Faults, InterruptReachesWhatHasNotStarted) {
  auto state = pipeline({.name = "endless", .entry = spin});
  auto queue = NS::TransferPtr(device()->newCommandQueue());
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  std::vector<MTL::CommandBuffer*> buffers;
  for (int i = 0; i < 3; ++i) {
    buffers.push_back(queue->commandBuffer());
    auto* encoder = buffers.back()->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->dispatchThreads({1, 1, 1}, {1, 1, 1});
    encoder->endEncoding();
    buffers.back()->commit();
  }
  int polls = 0;
  buffers[2]->waitUntilCompleted([&] {
    if (++polls == 2) interrupt();
  });
  for (auto* buffer : buffers) EXPECT_EQ(buffer->status(), MTL::CommandBufferStatusError);
  EXPECT_GE(polls, 2);
}

TEST(Faults, ExceptionFromPollEndsTheWait) {
  auto state = pipeline({.name = "endless", .entry = spin});
  auto queue = NS::TransferPtr(device()->newCommandQueue());
  auto commands = NS::TransferPtr(queue->newCommandBuffer());
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->dispatchThreads({1, 1, 1}, {1, 1, 1});
  }
  commands->commit();
  EXPECT_THROW(commands->waitUntilCompleted([] { throw std::runtime_error("enough"); }),
               std::runtime_error);
  interrupt();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
}

// Faults on several queues at once do not affect each other.
TEST(Faults, ManyThreadsAtOnce) {
  auto good = pipeline({.entry = fill});
  auto bad = pipeline({.name = "culprit", .entry = write_null, .has_barriers = true});
  std::atomic<int> errors{0}, successes{0};
  auto work = [&] {
    auto queue = NS::TransferPtr(device()->newCommandQueue());
    Data<float> out(5000);
    for (int i = 0; i < 20; ++i) {
      auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      auto* commands = queue->commandBuffer();
      auto* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(i % 2 ? good.get() : bad.get());
      encoder->setBuffer(out, 0, 0);
      encoder->dispatchThreads({5000, 1, 1}, {64, 1, 1});
      encoder->endEncoding();
      commands->commit();
      commands->waitUntilCompleted();
      (commands->error() ? errors : successes)++;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(errors, 40);
  EXPECT_EQ(successes, 40);
}

// Signals that no kernel raised go to the previous handler.
void crash_on_own_account() {
  static sigjmp_buf recovery;
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(recovery, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  Data<float> out(32);
  run({.entry = fill}, {out}, {32, 1, 1}, {32, 1, 1});  // handlers are installed now at the latest
  if (sigsetjmp(recovery, 1) == 0) raise(SIGSEGV);
  _exit(7);
}

TEST(Faults, OtherSignalsArePassedOn) {
  SKIP_IF_EMULATED("the system cannot start the test again");
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash_on_own_account(), testing::ExitedWithCode(7), "");
  auto die = [] {
    Data<float> out(32);
    run({.entry = fill}, {out}, {32, 1, 1}, {32, 1, 1});
    raise(SIGFPE);
  };
#if !defined(METAL_ASAN) && !defined(METAL_TSAN)
  EXPECT_EXIT(die(), testing::KilledBySignal(SIGFPE), "");
#else
  EXPECT_DEATH(die(), "");
#endif
}

}  // namespace
}  // namespace metal::test
