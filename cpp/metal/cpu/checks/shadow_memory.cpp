#include "metal/cpu/checks/shadow_memory.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/provenance.h"
#include "metal/cpu/codegen/group_access.h"

namespace metal::cpu {

using llvm::Value;

ShadowMemory::ShadowMemory(CheckBuilder& builder, const FunctionInfo& kernel)
    : builder_(builder), kernel_(kernel) {}

Value* ShadowMemory::of(Value* pointer) {
  if (const auto found = known_.find(pointer); found != known_.end()) return found->second;
  Value* shadow = find(pointer);
  return known_[pointer] = shadow;
}

Value* ShadowMemory::find(Value* pointer) {
  llvm::IRBuilder<> start(builder_.start());
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) {
    const ArgumentInfo& info = argument_info(kernel_, argument->getArgNo());
    if (info.kind == ArgumentKind::ThreadgroupMemory) return of_threadgroup(start, argument);
    return start.CreateAddrSpaceCast(
        GroupAccess(start, builder_.group()).checked_undefined(info.index), argument->getType());
  }
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(pointer)) return of_variable(*variable);
  if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer))
    return is_shared(*variable) ? of_threadgroup(start, variable) : of_table(*variable);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) return of_phi(*phi);

  auto* operation = checked_cast<llvm::Operator>(pointer);
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(pointer);
  llvm::IRBuilder<> b(instruction ? instruction : builder_.start());
  if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    const llvm::SmallVector<Value*> indices(address->indices());
    Value* base = of(address->getPointerOperand());
    return b.CreateGEP(address->getSourceElementType(), base, indices, "",
                       address->getNoWrapFlags());
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
    Value* yes = of(select->getTrueValue());
    Value* no = of(select->getFalseValue());
    return b.CreateSelect(select->getCondition(), yes, no);
  }
  Value* inner = of(operation->getOperand(0));
  if (operation->getOpcode() == llvm::Instruction::Freeze) return inner;
  return b.CreateAddrSpaceCast(inner, pointer->getType());
}

Value* ShadowMemory::of_threadgroup(llvm::IRBuilder<>& b, Value* object) {
  GroupAccess group(b, builder_.group());
  Value* memory = group.memory();
  Value* offset = b.CreateSub(b.CreatePtrToInt(object, b.getInt64Ty()),
                              b.CreatePtrToInt(memory, b.getInt64Ty()));
  Value* shadow =
      b.CreateGEP(b.getInt8Ty(), memory, b.CreateAdd(offset, b.getInt64(kThreadgroupShadow)));
  return b.CreateAddrSpaceCast(shadow, object->getType());
}

Value* ShadowMemory::of_variable(llvm::AllocaInst& variable) {
  const uint64_t bytes =
      variable.getAllocationSize(builder_.kernel().getDataLayout())->getFixedValue();
  llvm::IRBuilder<> b(&variable);
  llvm::AllocaInst* shadow = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes), nullptr,
                                            variable.getName() + ".undefined");
  shadow->setAlignment(variable.getAlign());
  b.SetInsertPoint(builder_.start());
  b.CreateMemSet(shadow, b.getInt8(0), bytes, shadow->getAlign());
  return shadow;
}

// All of it is defined.
Value* ShadowMemory::of_table(llvm::GlobalVariable& table) {
  llvm::Type* type = table.getValueType();
  auto* shadow = new llvm::GlobalVariable(
      *table.getParent(), type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
      llvm::Constant::getNullValue(type), "defined", nullptr, llvm::GlobalValue::NotThreadLocal,
      table.getAddressSpace());
  shadow->setAlignment(table.getAlign());
  return shadow;
}

Value* ShadowMemory::of_phi(llvm::PHINode& phi) {
  llvm::IRBuilder<> b(&phi);
  llvm::PHINode* shadow = b.CreatePHI(phi.getType(), phi.getNumIncomingValues());
  known_[&phi] = shadow;  // loops come back to it
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Value* incoming = of(phi.getIncomingValue(i));
    shadow->addIncoming(incoming, phi.getIncomingBlock(i));
  }
  return shadow;
}

}  // namespace metal::cpu
