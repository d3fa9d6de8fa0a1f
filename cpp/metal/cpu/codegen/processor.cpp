#include "metal/cpu/codegen/processor.h"

#include <memory>
#include <stdexcept>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/cpu/codegen/host_features.h"

namespace metal::cpu {
namespace {

// Vectors on Arm are those of NEON. With SVE, LLVM also believes that it has masked accesses to
// them, and then has no code for those to bfloat. For Intel's processors with AVX-512, LLVM prefers
// half of a register, and says that registers are as short; the code of gangs uses whole ones.
void choose_vectors(llvm::SubtargetFeatures& features) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  if (triple.isAArch64()) features.AddFeature("sve", false);
  if (triple.isX86()) features.AddFeature("prefer-256-bit", false);
}

Processor host_processor() {
  llvm::SubtargetFeatures features;
  for (const auto& [name, enabled] : host_features()) features.AddFeature(name, enabled);
  choose_vectors(features);
  return {llvm::sys::getHostCPUName().str(), features.getString(), ""};
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const std::string& name) {
  compiler::prepare_llvm();
  std::string error;
  const std::string triple = llvm::sys::getProcessTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw CompileError("no code generator for " + triple + ": " + error);
  // Checked before the target is created, as LLVM would print a warning for an unknown name.
  std::unique_ptr<llvm::MCSubtargetInfo> any(target->createMCSubtargetInfo(triple, "", ""));
  if (!any->isCPUStringValid(name)) {
    throw std::invalid_argument(
        "[" + std::string(kProcessorVariable) + "] Unknown processor '" + name +
        "': allowed are native and LLVM's names of " +
        llvm::Triple::getArchTypeName(llvm::Triple(triple).getArch()).str() +
        " processors, such as x86-64-v2 (SSE4.2), x86-64-v3 (AVX2), x86-64-v4 (AVX-512) on x86 "
        "and cortex-a72 or neoverse-n1 on Arm.");
  }
  return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, name, ""));
}

Processor named_processor(const std::string& name) {
  const llvm::StringMap<bool> host = host_features();
  llvm::SubtargetFeatures features;
  std::string missing;
  for (const llvm::SubtargetFeatureKV& feature : subtarget(name)->getEnabledProcessorFeatures()) {
    const llvm::StringRef key = feature.Key;
    // LLVM writes features in lower case, in which it does not find those with other letters.
    if (key != key.lower()) continue;
    features.AddFeature(key);
    const auto found = host.find(feature.Key);
    if (found != host.end() && !found->second)
      missing += (missing.empty() ? "" : ", ") + std::string(feature.Key);
  }
  choose_vectors(features);
  return {name, features.getString(), missing};
}

}  // namespace

const Processor& target_processor() {
  static const Processor& processor = *[] {  // never destroyed
    const std::string name = wanted_processor();
    return new Processor(name == "native" ? host_processor() : named_processor(name));
  }();
  return processor;
}

void require_runnable() {
  const Processor& processor = target_processor();
  if (processor.missing.empty()) return;
  throw CompileError("[" + std::string(kProcessorVariable) + "] This machine cannot run code for " +
                     processor.name + ": it lacks " + processor.missing + ".");
}

}  // namespace metal::cpu
