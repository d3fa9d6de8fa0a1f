#include "metal/cpu/checks/provenance.h"

#include <algorithm>

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/codegen/group_access.h"

namespace metal::cpu {
namespace {

// What the source calls a variable: without the scopes that Clang puts before its name, and without
// what inlining and splitting add behind it.
std::string source_name(const llvm::Value& variable) {
  std::string name = llvm::demangle(variable.getName().str());
  if (const size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  return name.substr(0, name.find('.'));
}

// Arrays of arrays count their innermost elements.
llvm::Type* element_of(llvm::Type* type) {
  while (type->isArrayTy()) type = type->getArrayElementType();
  return type;
}

}  // namespace

const ArgumentInfo& argument_info(const FunctionInfo& kernel, unsigned position) {
  for (const ArgumentInfo& info : kernel.arguments) {
    if (info.kind == ArgumentKind::Attribute) continue;
    if (position-- == 0) return info;
  }
  return kernel.arguments.back();
}

Provenances::Provenances(CheckBuilder& builder, const FunctionInfo& kernel)
    : builder_(builder), kernel_(kernel) {}

Provenance Provenances::of(llvm::Value* pointer) {
  if (const auto found = known_.find(pointer); found != known_.end()) return found->second;
  const Provenance provenance = find(pointer);
  return known_[pointer] = provenance;
}

Provenance Provenances::find(llvm::Value* pointer) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) return of_argument(*argument);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) return of_phi(*phi);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) return of_select(*select);
  if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer))
    return of(address->getPointerOperand());
  if (llvm::Operator::getOpcode(pointer) == llvm::Instruction::AddrSpaceCast)
    return of(checked_cast<llvm::Operator>(pointer)->getOperand(0));
  if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(pointer)) return of(freeze->getOperand(0));
  const llvm::DataLayout& layout = builder_.kernel().getDataLayout();
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(pointer)) {
    const auto bytes = variable->getAllocationSize(layout);
    if (!variable->isStaticAlloca() || !bytes) return unknown();
    return of_variable(variable, variable->getAllocatedType(), bytes->getFixedValue(),
                       ObjectKind::Private);
  }
  if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer)) {
    llvm::Type* type = variable->getValueType();
    const bool shared =
        variable->getAddressSpace() == static_cast<unsigned>(AddressSpace::Threadgroup);
    return of_variable(variable, type, layout.getTypeAllocSize(type),
                       shared ? ObjectKind::Threadgroup : ObjectKind::Table);
  }
  return unknown();
}

Provenance Provenances::unknown() {
  llvm::IRBuilder<> b(builder_.start());
  return {b.getInt64(0), b.getInt64(UINT64_MAX), llvm::ConstantPointerNull::get(b.getPtrTy())};
}

Provenance Provenances::of_argument(llvm::Argument& argument) {
  if (argument.getParent() != &builder_.kernel()) return unknown();
  const ArgumentInfo& info = argument_info(kernel_, argument.getArgNo());
  llvm::IRBuilder<> b(builder_.start());
  GroupAccess group(b, builder_.group());
  const bool buffer = info.kind == ArgumentKind::Buffer;
  const unsigned place = info.index + (buffer ? 0 : kMaxBuffers);
  llvm::Value* begin = buffer ? group.checked_begin(place) : &argument;
  return {b.CreatePtrToInt(begin, b.getInt64Ty()), group.checked_bytes(place),
          builder_.object(info.name, buffer ? ObjectKind::Buffer : ObjectKind::Threadgroup,
                          info.element_size)};
}

Provenance Provenances::of_variable(llvm::Value* variable, llvm::Type* type, uint64_t bytes,
                                    ObjectKind kind) {
  const llvm::DataLayout& layout = builder_.kernel().getDataLayout();
  llvm::IRBuilder<> b(builder_.start());
  return {b.CreatePtrToInt(variable, b.getInt64Ty()), b.getInt64(bytes),
          builder_.object(source_name(*variable), kind,
                          layout.getTypeAllocSize(element_of(type)).getFixedValue())};
}

Provenance Provenances::of_phi(llvm::PHINode& phi) {
  llvm::IRBuilder<> b(&phi);
  const unsigned count = phi.getNumIncomingValues();
  llvm::PHINode* begin = b.CreatePHI(b.getInt64Ty(), count);
  llvm::PHINode* bytes = b.CreatePHI(b.getInt64Ty(), count);
  llvm::PHINode* object = b.CreatePHI(b.getPtrTy(), count);
  known_[&phi] = {begin, bytes, object};  // loops come back to it
  for (unsigned i = 0; i < count; ++i) {
    const Provenance incoming = of(phi.getIncomingValue(i));
    begin->addIncoming(incoming.begin, phi.getIncomingBlock(i));
    bytes->addIncoming(incoming.bytes, phi.getIncomingBlock(i));
    object->addIncoming(incoming.object, phi.getIncomingBlock(i));
  }
  return {begin, bytes, object};
}

Provenance Provenances::of_select(llvm::SelectInst& select) {
  const Provenance yes = of(select.getTrueValue()), no = of(select.getFalseValue());
  llvm::IRBuilder<> b(&select);
  llvm::Value* condition = select.getCondition();
  return {b.CreateSelect(condition, yes.begin, no.begin),
          b.CreateSelect(condition, yes.bytes, no.bytes),
          b.CreateSelect(condition, yes.object, no.object)};
}

llvm::Value* Provenances::offset(llvm::IRBuilder<>& b, llvm::Value* pointer) {
  if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    llvm::Value* before = offset(b, address->getPointerOperand());
    return b.CreateAdd(before, llvm::emitGEPOffset(&b, builder_.kernel().getDataLayout(), address,
                                                   /*NoAssumptions=*/true));
  }
  if (llvm::Operator::getOpcode(pointer) == llvm::Instruction::AddrSpaceCast)
    return offset(b, checked_cast<llvm::Operator>(pointer)->getOperand(0));
  if (llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(pointer)) return b.getInt64(0);
  llvm::IRBuilder<> early(builder_.start());
  llvm::IRBuilder<>& here = llvm::isa<llvm::Argument>(pointer) ? early : b;
  return here.CreateSub(here.CreatePtrToInt(pointer, b.getInt64Ty()), of(pointer).begin);
}

llvm::Value* Provenances::stamps(llvm::IRBuilder<>& b, llvm::Value* pointer,
                                 const llvm::Value& object, bool reads) {
  llvm::IRBuilder<> early(builder_.start());
  GroupAccess group(early, builder_.group());
  if (is_device(object)) {
    const auto& argument = *checked_cast<llvm::Argument>(&object);
    return group.checked_stamps(argument_info(kernel_, argument.getArgNo()).index, reads);
  }
  llvm::Value* all = group.checked_stamps(kCheckedThreadgroup, reads);
  llvm::Value* memory = early.CreatePtrToInt(group.memory(), early.getInt64Ty());
  llvm::Value* begin = b.CreateSub(of(pointer).begin, memory);
  return b.CreateGEP(b.getInt64Ty(), all, begin);
}

uint64_t Provenances::alignment(const llvm::Value& object) const {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&object);
  if (variable) return variable->getPointerAlignment(builder_.kernel().getDataLayout()).value();
  const uint64_t bytes =
      argument_info(kernel_, checked_cast<llvm::Argument>(&object)->getArgNo()).element_size;
  return std::max<uint64_t>(bytes & -bytes, 1);
}

bool Provenances::is_inside(const llvm::Value* pointer, uint64_t bytes) const {
  const llvm::DataLayout& layout = builder_.kernel().getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const llvm::Value* base =
      pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  uint64_t size = 0;
  if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(base)) {
    if (const auto known = variable->getAllocationSize(layout)) size = known->getFixedValue();
  } else if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base)) {
    size = layout.getTypeAllocSize(global->getValueType());
  }
  return offset.isNonNegative() && offset.getZExtValue() <= size &&
         bytes <= size - offset.getZExtValue();
}

}  // namespace metal::cpu
