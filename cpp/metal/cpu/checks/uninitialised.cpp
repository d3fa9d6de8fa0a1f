#include "metal/cpu/checks/uninitialised.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/undefined_variables.h"
#include "metal/cpu/checks/origins.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// The instruction that says where in the source an effect is.
const llvm::DebugLoc& effect_location(const llvm::Instruction& effect) {
  if (const Value* pointer = llvm::getLoadStorePointerOperand(&effect))
    return access_location(effect, *pointer);
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&effect);
  const auto* test = branch && branch->isConditional()
                         ? llvm::dyn_cast<llvm::Instruction>(branch->getCondition())
                         : nullptr;
  return test && test->getDebugLoc() && test->getDebugLoc().getLine() ? test->getDebugLoc()
                                                                      : effect.getDebugLoc();
}

}  // namespace

UninitialisedCheck::UninitialisedCheck(CheckBuilder& builder, const FunctionInfo& kernel,
                                       const std::vector<Access>& accesses)
    : builder_(builder),
      flow_(builder.kernel(), kernel, accesses),
      memory_(builder, kernel),
      values_(builder.kernel()) {}

UninitialisedCheck::~UninitialisedCheck() = default;

void UninitialisedCheck::screen() { run(); }

void UninitialisedCheck::report(Provenances& provenances) {
  provenances_ = &provenances;
  origins_ = std::make_unique<Origins>(builder_, values_);
  run();
}

void UninitialisedCheck::run() {
  if (flow_.writes_unknown_memory()) {
    llvm::IRBuilder<> b(builder_.start());
    builder_.call(b, "metal_cpu_check_unknown_writes", b.getVoidTy(), {});
  }
  for (llvm::Instruction* instruction : flow_.order()) visit(*instruction);
  values_.finish();
  if (origins_) origins_->finish();
  drop_marks(*builder_.kernel().getParent());
}

void UninitialisedCheck::visit(llvm::Instruction& instruction) {
  for (Value* operand : flow_.needed(instruction)) test(*operand, instruction);
  if (compiler::is_undefined_memory(instruction))
    return undefine(*checked_cast<llvm::CallInst>(&instruction));
  if (compiler::is_undefined_value(instruction)) {
    auto& mark = *checked_cast<llvm::CallInst>(&instruction);
    values_.set(&mark, llvm::Constant::getAllOnesValue(values_.type_of(mark.getType())));
    if (!origins_) return;
    llvm::IRBuilder<> b(&mark);
    const std::string name = compiler::undefined_variable(mark);
    Value* object = builder_.object(name, ObjectKind::Private, 1);
    origins_->set(&mark, builder_.call(b, "metal_cpu_check_valueless", b.getInt32Ty(),
                                       {builder_.site(mark.getDebugLoc()), object}));
    return;
  }
  for (const Access& access : flow_.accesses(instruction)) visit_access(instruction, access);
  if (!flow_.reaches(instruction) || llvm::isa<llvm::LoadInst>(instruction)) return;
  values_.add(instruction);
  if (origins_) origins_->add(instruction);
}

void UninitialisedCheck::visit_access(llvm::Instruction& instruction, const Access& access) {
  if (!flow_.is_known(*access.written)) return;
  if (auto* read = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (flow_.reaches(instruction) && !flow_.escapes(*access.written)) load(*read, access);
  } else if (auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    if (access.kind == AccessKind::Write) copy(*call, access);
  } else if (auto* write = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    store(instruction, write->isAtomic() ? nullptr : write->getValueOperand(), access);
  } else {
    update(instruction, access);
  }
}

// What lies outside, which has been replaced by then, is defined, and takes what is written.
Value* UninitialisedCheck::shadow_pointer(const Access& access) {
  Value* shadow = memory_.of(access.written);
  auto* chosen = llvm::dyn_cast<llvm::PHINode>(access.pointer->get());
  if (access.pointer->get() == access.written || !chosen) return shadow;
  llvm::PHINode* phi = llvm::PHINode::Create(shadow->getType(), 2, "", chosen->getIterator());
  for (unsigned i = 0; i < 2; ++i) {
    const bool inside = chosen->getIncomingValue(i) == access.written;
    phi->addIncoming(inside ? shadow : chosen->getIncomingValue(i), chosen->getIncomingBlock(i));
  }
  return phi;
}

void UninitialisedCheck::load(llvm::LoadInst& load, const Access& access) {
  Value* pointer = shadow_pointer(access);
  llvm::IRBuilder<> b(load.getNextNode());
  llvm::LoadInst* shadow =
      b.CreateAlignedLoad(values_.type_of(load.getType()), pointer, load.getAlign());
  values_.set(&load, shadow);
  if (origins_) origins_->set(&load, read_origin(shadow, pointer, access, *shadow->getNextNode()));
}

Value* UninitialisedCheck::read_origin(Value* shadow, Value* pointer, const Access& access,
                                       llvm::Instruction& before) {
  llvm::IRBuilder<> b(&before);
  Value* undefined = values_.any(b, shadow);
  llvm::BasicBlock* defined = before.getParent();
  llvm::Instruction* then = builder_.unlikely_if(undefined, before);
  b.SetInsertPoint(then);
  const Provenance object = provenances_->of(access.written);
  Value* number =
      builder_.call(b, "metal_cpu_check_unwritten", b.getInt32Ty(),
                    {builder_.site(access_location(*access.instruction, *access.written)),
                     object.object, object.begin, b.CreatePtrToInt(access.written, b.getInt64Ty()),
                     b.CreateAddrSpaceCast(pointer, b.getPtrTy()), bytes_of(b, access)});
  b.SetInsertPoint(&before);
  llvm::PHINode* origin = b.CreatePHI(b.getInt32Ty(), 2);
  origin->addIncoming(b.getInt32(0), defined);
  origin->addIncoming(number, then->getParent());
  return origin;
}

// Without a value: what is stored is defined.
void UninitialisedCheck::store(llvm::Instruction& store, Value* value, const Access& access) {
  Value* pointer = shadow_pointer(access);
  llvm::IRBuilder<> b(store.getNextNode());
  llvm::Type* type = llvm::getLoadStoreType(&store);
  if (!type->isSingleValueType()) {
    b.CreateMemSet(pointer, b.getInt8(0), access.bytes, llvm::getLoadStoreAlignment(&store));
    return;
  }
  const bool keeps = value && !flow_.escapes(*access.written);
  Value* shadow =
      keeps ? values_.or_defined(value) : llvm::Constant::getNullValue(values_.type_of(type));
  b.CreateAlignedStore(shadow, pointer, llvm::getLoadStoreAlignment(&store));
  if (!origins_ || !keeps || !values_.of(value) || !is_shared(*access.written)) return;
  llvm::Instruction* then = builder_.unlikely_if(values_.any(b, shadow), *b.GetInsertPoint());
  b.SetInsertPoint(then);
  const Provenance object = provenances_->of(access.written);
  builder_.call(
      b, "metal_cpu_check_undefined_store", b.getVoidTy(),
      {builder_.site(access_location(store, *access.written)), object.object, object.begin,
       b.CreatePtrToInt(access.written, b.getInt64Ty()), bytes_of(b, access), origins_->of(value)});
}

// Depends on what was there, but for exchanges.
void UninitialisedCheck::update(llvm::Instruction& instruction, const Access& access) {
  auto* type =
      llvm::IntegerType::get(instruction.getContext(), static_cast<unsigned>(access.bytes * 8));
  const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  Value* pointer = shadow_pointer(access);
  llvm::IRBuilder<> b(&instruction);
  const llvm::Align alignment(access.bytes);
  if (!(change && change->getOperation() == llvm::AtomicRMWInst::Xchg) &&
      !flow_.escapes(*access.written)) {
    llvm::LoadInst* shadow = b.CreateAlignedLoad(type, pointer, alignment);
    Value* origin = origins_ ? read_origin(shadow, pointer, access, instruction) : nullptr;
    matters(shadow, origin, instruction);
  }
  b.SetInsertPoint(instruction.getNextNode());
  b.CreateAlignedStore(llvm::Constant::getNullValue(type), pointer, alignment);
}

void UninitialisedCheck::copy(llvm::MemIntrinsic& call, const Access& access) {
  Value* pointer = shadow_pointer(access);
  llvm::IRBuilder<> b(call.getNextNode());
  Value* length = access.length->get();
  const bool escapes = flow_.escapes(*access.written);
  if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&call)) {
    for (const Access& source : flow_.accesses(call)) {
      if (source.kind != AccessKind::Read || escapes || !flow_.is_known(*source.written) ||
          flow_.escapes(*source.written))
        continue;
      Value* from = shadow_pointer(source);
      b.CreateMemTransferInst(transfer->getIntrinsicID(), pointer, transfer->getDestAlign(), from,
                              transfer->getSourceAlign(), length);
      return;
    }
    b.CreateMemSet(pointer, b.getInt8(0), length, transfer->getDestAlign());
    return;
  }
  auto* fill = checked_cast<llvm::MemSetInst>(&call);
  Value* shadow = escapes ? b.getInt8(0) : values_.or_defined(fill->getValue());
  b.CreateMemSet(pointer, shadow, length, fill->getDestAlign());
}

void UninitialisedCheck::undefine(llvm::CallInst& mark) {
  Value* pointer = mark.getArgOperand(0);
  if (!flow_.is_known(*pointer) || flow_.escapes(*pointer)) return;
  llvm::IRBuilder<> b(&mark);
  b.CreateMemSet(memory_.of(pointer), b.getInt8(UINT8_MAX), mark.getArgOperand(1),
                 pointer->getPointerAlignment(builder_.kernel().getDataLayout()));
}

void UninitialisedCheck::test(Value& needed, llvm::Instruction& effect) {
  if (Value* shadow = values_.of(&needed))
    matters(shadow, origins_ ? origins_->of(&needed) : nullptr, effect);
}

void UninitialisedCheck::matters(Value* shadow, Value* origin, llvm::Instruction& effect) {
  llvm::IRBuilder<> b(&effect);
  Value* undefined = values_.any(b, shadow);
  if (!origins_) return builder_.suspect_if(undefined, effect);
  b.SetInsertPoint(builder_.unlikely_if(undefined, effect));
  builder_.call(b, "metal_cpu_check_matters", b.getVoidTy(),
                {builder_.site(effect_location(effect)), origin});
}

void drop_marks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (compiler::is_undefined_value(instruction)) {
        instruction.replaceAllUsesWith(llvm::Constant::getNullValue(instruction.getType()));
        instruction.eraseFromParent();
      } else if (compiler::is_undefined_memory(instruction)) {
        instruction.eraseFromParent();
      }
    }
  }
}

}  // namespace metal::cpu
