// General code is loaded when a running kernel first needs it.
#include "metal/cpu/runtime/general_code.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "metal/native_kernel.h"

namespace metal::cpu {
namespace {

using Code = uint32_t (*)(uint32_t);

std::atomic<uint32_t> loads{0};

uint32_t twice(uint32_t number) { return 2 * number; }

GeneralCode& working() {
  static GeneralCode code([] {
    ++loads;
    return reinterpret_cast<void*>(&twice);
  });
  return code;
}

GeneralCode& broken() {
  static GeneralCode code([]() -> void* { throw std::runtime_error("there is none"); });
  return code;
}

void double_threads(const Group* group, uint32_t thread) {
  const test::Position at(group, thread);
  const auto code = reinterpret_cast<Code>(metal_cpu_general_code(group, &working()));
  test::argument<uint32_t>(group, 0)[at.linear] = code(static_cast<uint32_t>(at.linear));
}

void fail(const Group* group, uint32_t) {
  reinterpret_cast<Code>(metal_cpu_general_code(group, &broken()))(0);
}

TEST(GeneralCode, IsLoadedOnce) {
  constexpr size_t kThreads = 100000;
  for (int launch = 0; launch < 2; ++launch) {
    test::Data<uint32_t> out(kThreads);
    ASSERT_EQ(test::run({.entry = double_threads}, {out}, {kThreads, 1, 1}, {100, 1, 1}), "");
    for (uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(out[i], 2 * i);
  }
  EXPECT_EQ(loads, 1u);
}

TEST(GeneralCode, EndsTheLaunchWhereItCannotBeHad) {
  for (size_t threads : {size_t{1}, size_t{10000}}) {
    const std::string error =
        test::run({.name = "culprit", .entry = fail}, {}, {threads, 1, 1}, {100, 1, 1});
    EXPECT_NE(error.find("[culprit] there is none"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace metal::cpu
