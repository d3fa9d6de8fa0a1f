#include "metal/cuda/target.h"

#include <mutex>
#include <stdexcept>
#include <string>

#include "llvm-c/Target.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/compiler.h"
#include "metal/cuda/architectures.h"

namespace metal::cuda {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

// The version of PTX that has movmatrix and knows all of these architectures.
constexpr const char* kPtxVersion = "+ptx78";

const Architecture& find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  throw std::invalid_argument("architecture '" + std::string(name) + "' is none of " + known);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> create_target(std::string_view name) {
  const Architecture& architecture = find_architecture(name);
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) throw CompileError("no code generator for NVIDIA GPUs: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, architecture.name, kPtxVersion, options,
                                  llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

}  // namespace metal::cuda
