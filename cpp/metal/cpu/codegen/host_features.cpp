#include "metal/cpu/codegen/host_features.h"

#include "llvm/TargetParser/Host.h"
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace metal::cpu {

// LLVM lists a few features of Arm's processors, those that are there. It reads them from
// /proc/cpuinfo, which is that of another processor in an emulator.
llvm::StringMap<bool> host_features() {
#if defined(__aarch64__)
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  auto has = [](unsigned long all, unsigned long wanted) { return (all & wanted) == wanted; };
  return {
      {"neon", has(first, HWCAP_ASIMD)},       {"fullfp16", has(first, HWCAP_FPHP | HWCAP_ASIMDHP)},
      {"fp16fml", has(first, HWCAP_ASIMDFHM)}, {"bf16", has(second, HWCAP2_BF16)},
      {"dotprod", has(first, HWCAP_ASIMDDP)},  {"i8mm", has(second, HWCAP2_I8MM)},
      {"rdm", has(first, HWCAP_ASIMDRDM)},     {"complxnum", has(first, HWCAP_FCMA)},
      {"lse", has(first, HWCAP_ATOMICS)},      {"rcpc", has(first, HWCAP_LRCPC)},
      {"rcpc-immo", has(first, HWCAP_ILRCPC)}};
#else
  return llvm::sys::getHostCPUFeatures();
#endif
}

}  // namespace metal::cpu
