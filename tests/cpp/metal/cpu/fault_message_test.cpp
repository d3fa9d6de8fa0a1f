// The error messages for faults.
#include "metal/cpu/runtime/fault_message.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

namespace metal::cpu {
namespace {

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kInput = 100 * kGiB, kOutput = 200 * kGiB, kOwn = 300 * kGiB,
                   kStack = 400 * kGiB;

// A kernel with an input of 64 bytes, an output of 4096 and 1024 bytes of threadgroup memory.
class FaultMessage : public testing::Test {
 protected:
  FaultMessage() {
    function.arguments.resize(3);
    function.arguments[0].name = "x";
    function.arguments[1].name = "y";
    function.arguments[1].index = 1;
    function.arguments[1].writable = true;
    function.arguments[2].name = "unbound";
    function.arguments[2].index = 2;
    parameters.buffers[0] = at(kInput);
    parameters.buffer_bytes[0] = 64;
    parameters.buffers[1] = at(kOutput);
    parameters.buffer_bytes[1] = 4096;
    // A buffer of an earlier kernel, which had more arguments.
    parameters.buffers[7] = at(2 * kInput - 4096);
    parameters.buffer_bytes[7] = 64;
    parameters.threads_per_threadgroup[0] = 32;
    launch.threads_per_threadgroup[0] = 32;
    launch.threads_per_threadgroup[1] = launch.threads_per_threadgroup[2] = 1;
    group.launch = &launch;
    group.memory = static_cast<char*>(at(kOwn));
    group.size[0] = 32;
    group.size[1] = group.size[2] = 1;
    group.thread = kUnknownThread;
  }

  // Without the scene of the fault.
  std::string at_address(uint64_t address, Fault::Access access) const {
    const Fault fault{.kind = Fault::Signal,
                      .signal = SIGSEGV,
                      .address = at(address),
                      .access = access,
                      .stack = at(kStack),
                      .stack_size = 65536};
    const std::string text = describe(fault, {function, parameters, group, 1024});
    const size_t begin = text.find(", "), end = text.rfind(", in threadgroup");
    return text.substr(begin + 2, end - begin - 2);
  }

  std::string place() const {
    const Fault fault{.kind = Fault::Signal, .signal = SIGFPE};
    const std::string text = describe(fault, {function, parameters, group, 0});
    return text.substr(text.find(", ") + 2);
  }

  FunctionInfo function;
  LaunchParameters parameters;
  Launch launch{};
  Group group{};
};

TEST_F(FaultMessage, NearestBuffer) {
  EXPECT_EQ(at_address(kInput - kGiB, Fault::Read),
            "1073741824 bytes before the start of \"x\" (64 bytes, its nearest buffer)");
  EXPECT_EQ(at_address(kInput + 64 + kGiB, Fault::Unknown),
            "1073741824 bytes behind the end of \"x\" (64 bytes, its nearest buffer)");
  EXPECT_EQ(at_address(kOutput + 4096, Fault::Write),
            "0 bytes behind the end of \"y\" (4096 bytes, its nearest writable buffer)");
  EXPECT_EQ(at_address(kOutput - 1, Fault::Read),
            "1 byte before the start of \"y\" (4096 bytes, its nearest buffer)");
}

TEST_F(FaultMessage, NearNothing) {
  for (uint64_t address : {uint64_t{0}, kInput - kGiB - 1, kInput + 65 + kGiB, ~uint64_t{0}})
    EXPECT_EQ(at_address(address, Fault::Read), "near no buffer of the kernel");
  // A write was not meant for a read-only buffer.
  EXPECT_EQ(at_address(kInput + 100, Fault::Write), "near no buffer of the kernel");
}

TEST_F(FaultMessage, InsideOfABuffer) {
  EXPECT_EQ(at_address(kOutput + 4095, Fault::Write),
            "at byte 4095 of \"y\" (4096 bytes), whose memory cannot be written");
  EXPECT_EQ(at_address(kInput, Fault::Read),
            "at byte 0 of \"x\" (64 bytes), whose memory cannot be read");
  EXPECT_EQ(at_address(kInput + 3, Fault::Unknown),
            "at byte 3 of \"x\" (64 bytes), whose memory cannot be accessed");
}

TEST_F(FaultMessage, MemoryOfItsOwn) {
  EXPECT_EQ(at_address(kOwn + 1024 + 70000, Fault::Write),
            "70000 bytes behind the end of its threadgroup memory (1024 bytes)");
  EXPECT_EQ(at_address(kOwn + (64 << 20), Fault::Write), "near no buffer of the kernel");
  EXPECT_EQ(at_address(kStack + 1000000, Fault::Read), "near the variables of its threads");
  EXPECT_EQ(at_address(kStack - (64 << 20), Fault::Read), "near no buffer of the kernel");
}

TEST_F(FaultMessage, Access) {
  Fault fault{.kind = Fault::Signal, .signal = SIGBUS, .address = at(16)};
  const FaultScene scene{function, parameters, group, 0};
  auto starts_with = [&](const std::string& start) {
    const std::string text = describe(fault, scene);
    EXPECT_EQ(text.substr(0, start.size()), start);
  };
  starts_with("invalid memory access at address 0x10, near");
  fault.access = Fault::Write;
  starts_with("invalid memory access (write) at address 0x10, near");
  fault.code = SI_KERNEL;
  fault.access = Fault::Unknown;
  starts_with("invalid memory access at an impossible address, in threadgroup");
  fault.kind = Fault::StackOverflow;
  starts_with("stack overflow (the variables of its threads need too much memory), in threadgroup");
}

TEST_F(FaultMessage, Place) {
  group.position[0] = 3;
  group.position[2] = 5;
  EXPECT_EQ(place(), "in threadgroup (3, 0, 5); MLX_CPU_REFERENCE=1 finds the thread");
  group.thread = 31;
  EXPECT_EQ(place(),
            "in threadgroup (3, 0, 5), thread (31, 0, 0), which is thread (127, 0, 5) of the grid");
}

// If several threadgroups run as one, the last ones may not exist.
TEST_F(FaultMessage, PlaceInThreadgroupsThatRunAsOne) {
  group.position[0] = 2;
  launch.threads_per_threadgroup[0] = group.size[0] = 128;
  EXPECT_EQ(place(),
            "in one of the threadgroups (8 to 11, 0, 0); MLX_CPU_REFERENCE=1 finds the thread");
  group.size[0] = 33;
  EXPECT_EQ(place(),
            "in one of the threadgroups (8 to 9, 0, 0); MLX_CPU_REFERENCE=1 finds the thread");
  group.size[0] = 32;
  EXPECT_EQ(place(), "in threadgroup (8, 0, 0); MLX_CPU_REFERENCE=1 finds the thread");
  group.size[0] = 128;
  group.thread = 100;
  EXPECT_EQ(place(),
            "in threadgroup (11, 0, 0), thread (4, 0, 0), which is thread (356, 0, 0) of the grid");
  parameters.threads_per_threadgroup[1] = 4;
  launch.threads_per_threadgroup[1] = group.size[1] = 16;
  group.position[1] = 1;
  EXPECT_EQ(
      place(),
      "in threadgroup (11, 4, 0), thread (4, 0, 0), which is thread (356, 16, 0) of the grid");
  group.thread = 128 * 6 + 100;
  EXPECT_EQ(
      place(),
      "in threadgroup (11, 5, 0), thread (4, 2, 0), which is thread (356, 22, 0) of the grid");
  group.thread = kUnknownThread;
  EXPECT_EQ(
      place(),
      "in one of the threadgroups (8 to 11, 4 to 7, 0); MLX_CPU_REFERENCE=1 finds the thread");
}

}  // namespace
}  // namespace metal::cpu
