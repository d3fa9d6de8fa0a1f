#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "metal/cpu/group_access.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {

uint32_t lower_threadgroup_variables(llvm::Function& body) {
  llvm::Module& module = *body.getParent();
  llvm::SmallVector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == kThreadgroupMemory) variables.push_back(&variable);
  }
  if (variables.empty()) return 0;
  llvm::SmallVector<llvm::Constant*> constants(variables.begin(), variables.end());
  llvm::convertUsersOfConstantsToInstructions(constants);

  llvm::IRBuilder<> builder(&*body.getEntryBlock().getFirstInsertionPt());
  llvm::Value* memory = builder.CreateAddrSpaceCast(GroupAccess(builder, body.getArg(0)).memory(),
                                                    builder.getPtrTy(kThreadgroupMemory));
  uint64_t size = 0;
  for (llvm::GlobalVariable* variable : variables) {
    if (variable->use_empty()) continue;
    const llvm::DataLayout& layout = module.getDataLayout();
    size = llvm::alignTo(size, std::max(variable->getAlign().valueOrOne(), llvm::Align(16)));
    variable->replaceAllUsesWith(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, size));
    size += layout.getTypeAllocSize(variable->getValueType());
  }
  for (llvm::GlobalVariable* variable : variables) variable->eraseFromParent();
  return static_cast<uint32_t>(std::min<uint64_t>(llvm::alignTo(size, 16), UINT32_MAX));
}

}  // namespace metal::cpu
