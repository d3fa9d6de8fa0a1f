#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {

namespace {

using llvm::Value;

struct Layout {
  llvm::SmallVector<std::pair<llvm::GlobalVariable*, uint64_t>> offsets;
  uint64_t size = 0;
};

// Lays out the variables that are used.
Layout lay_out_variables(llvm::Module& module) {
  Layout layout;
  llvm::Align largest(16);
  for (llvm::GlobalVariable& variable : module.globals()) {
    variable.removeDeadConstantUsers();
    if (variable.getAddressSpace() != kThreadgroupMemory || variable.use_empty()) continue;
    const llvm::Align alignment = std::max(variable.getAlign().valueOrOne(), llvm::Align(16));
    layout.size = llvm::alignTo(layout.size, alignment);
    layout.offsets.emplace_back(&variable, layout.size);
    layout.size += module.getDataLayout().getTypeAllocSize(variable.getValueType());
    largest = std::max(largest, alignment);
  }
  layout.size = llvm::alignTo(layout.size, largest);  // where that of a joined threadgroup starts
  return layout;
}

}  // namespace

void lower_threadgroup_variables(llvm::Function& body, const BodyForm& form) {
  llvm::Module& module = *body.getParent();
  const Layout layout = lay_out_variables(module);
  if (layout.offsets.empty()) return;
  llvm::SmallVector<llvm::Constant*> variables;
  for (const auto& [variable, offset] : layout.offsets) variables.push_back(variable);
  llvm::convertUsersOfConstantsToInstructions(variables);

  llvm::IRBuilder<> builder(&*body.getEntryBlock().getFirstInsertionPt());
  Value* memory =
      builder.CreateAddrSpaceCast(GroupAccess(builder, body.getArg(kGroupArgument)).memory(),
                                  builder.getPtrTy(kThreadgroupMemory));
  if (form.joined.any()) {
    Value* before = builder.CreateNUWMul(number_in_joined(builder, body, form),
                                         builder.getInt32(static_cast<uint32_t>(layout.size)));
    memory = builder.CreateInBoundsGEP(builder.getInt8Ty(), memory, before);
  }
  for (const auto& [variable, offset] : layout.offsets) {
    variable->replaceAllUsesWith(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset));
    variable->eraseFromParent();
  }
}

uint32_t size_of_threadgroup_variables(llvm::Module& module) {
  return static_cast<uint32_t>(std::min<uint64_t>(lay_out_variables(module).size, UINT32_MAX));
}

}  // namespace metal::cpu
