#include "metal/cpu/runtime/target_key.h"

#include <cstdint>
#include <string_view>

#include "llvm/Config/llvm-config.h"
#include "metal/compiler/verify.h"
#include "metal/compiler_library.h"
#include "metal/cpu/codegen/processor.h"
#include "metal/programs/code_version.h"
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include <fstream>
#endif

namespace metal::cpu {
namespace {

#if defined(__x86_64__)
// The registers of a leaf of CPUID, EAX to EDX, that tell of instructions and models. Others differ
// from core to core, or count cores.
struct Leaf {
  uint32_t leaf, subleaf;
  bool registers[4];
};
constexpr Leaf kLeaves[] = {{0, 0, {false, true, true, true}},            // vendor
                            {1, 0, {true, false, true, true}},            // model and features
                            {7, 0, {false, true, true, true}},            // features
                            {7, 1, {true, true, true, true}},             // features
                            {0xd, 1, {true, false, false, false}},        // saving of registers
                            {0x14, 0, {false, true, false, false}},       // tracing
                            {0x19, 0, {false, true, false, false}},       // key locker
                            {0x24, 0, {false, true, false, false}},       // AVX10
                            {0x80000001, 0, {false, false, true, true}},  // features
                            {0x80000008, 0, {false, true, false, false}}};

// The registers that the system saves; without that, a program cannot use them.
uint64_t saved_registers() {
  uint32_t low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

std::string processor_identity() {
  std::string text;
  for (const Leaf& leaf : kLeaves) {
    uint32_t values[4] = {};
    __get_cpuid_count(leaf.leaf, leaf.subleaf, &values[0], &values[1], &values[2], &values[3]);
    for (int i = 0; i < 4; ++i) {
      if (leaf.registers[i]) text += std::to_string(values[i]) + " ";
    }
  }
  uint32_t eax, ebx, ecx = 0, edx;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  if (ecx & bit_OSXSAVE) text += std::to_string(saved_registers());
  return text;
}
#elif defined(__aarch64__)
std::string processor_identity() {
  std::string text =
      std::to_string(getauxval(AT_HWCAP)) + " " + std::to_string(getauxval(AT_HWCAP2));
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("CPU implementer") || line.starts_with("CPU part")) text += line;
  }
  return text;
}
#endif

}  // namespace

std::string target_key() {
  return std::string(compiler::code_version()) + " " + LLVM_VERSION_STRING + " " +
         wanted_processor() + " " + processor_identity() +
         (compiler::verifies_ir() ? " verified" : "");
}

void require_runnable_target() {
  static const bool named = wanted_processor() != "native";
  if (named) compiler_library().require_runnable();
}

}  // namespace metal::cpu
