#include "metal/cpu/checks/bounds.h"

#include "llvm/IR/Instructions.h"

namespace metal::cpu {
namespace {

using llvm::Value;

class BoundsCheck {
 public:
  BoundsCheck(CheckBuilder& builder, Provenances& provenances)
      : builder_(builder), provenances_(provenances) {}

  // The number of the finding if the access lies outside, else 0.
  Value* add(const Access& access, bool deferred) {
    Value* pointer = access.pointer->get();
    const Provenance object = provenances_.of(pointer);
    llvm::IRBuilder<> b(access.instruction);
    Value* bytes = bytes_of(b, access);
    Value* offset = b.CreateSub(b.CreatePtrToInt(pointer, b.getInt64Ty()), object.begin);
    Value* outside = is_outside(b, access, offset, object.bytes);

    llvm::BasicBlock* before = access.instruction->getParent();
    llvm::Instruction* then = builder_.unlikely_if(outside, *access.instruction);
    b.SetInsertPoint(then);
    Value* finding = builder_.call(
        b, "metal_cpu_check_outside", b.getInt32Ty(),
        {builder_.site(access_location(*access.instruction, *pointer)), object.object, offset,
         object.bytes, bytes, builder_.access(access.kind), b.getInt1(deferred)});
    Value* nowhere = b.CreateAddrSpaceCast(
        builder_.call(b, "metal_cpu_check_nowhere", b.getPtrTy(), {builder_.access(access.kind)}),
        pointer->getType());

    b.SetInsertPoint(access.instruction);
    auto join = [&](Value* inside, Value* otherwise) {
      llvm::PHINode* phi = b.CreatePHI(inside->getType(), 2);
      phi->addIncoming(inside, before);
      phi->addIncoming(otherwise, then->getParent());
      return phi;
    };
    Value* const none = b.getInt32(0);
    llvm::PHINode* place = join(pointer, nowhere);
    llvm::PHINode* number = join(none, finding);
    if (access.length) {  // nowhere has no room for it
      Value* length = access.length->get();
      access.length->set(join(length, llvm::ConstantInt::get(length->getType(), 0)));
    }
    access.pointer->set(place);
    return number;
  }

 private:
  CheckBuilder& builder_;
  Provenances& provenances_;
};

}  // namespace

std::vector<DeferredRead> check_bounds(CheckBuilder& builder, Provenances& provenances,
                                       const std::vector<Access>& accesses, bool deferred) {
  BoundsCheck check(builder, provenances);
  std::vector<DeferredRead> reads;
  for (const Access& access : accesses) {
    if (!access.length && provenances.is_inside(access.pointer->get(), access.bytes)) continue;
    const bool may_defer = deferred && access.kind == AccessKind::Read &&
                           llvm::isa<llvm::LoadInst>(access.instruction);
    Value* finding = check.add(access, may_defer);
    if (may_defer) reads.push_back({access.instruction, finding});
  }
  return reads;
}

}  // namespace metal::cpu
