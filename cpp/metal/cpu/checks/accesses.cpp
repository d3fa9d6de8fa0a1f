#include "metal/cpu/checks/accesses.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/compiler.h"

namespace metal::cpu {
namespace {

class Finder {
 public:
  explicit Finder(llvm::Function& kernel) : layout_(kernel.getDataLayout()) {}

  void add(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      add(instruction, load->getPointerOperandIndex(), load->getType(),
          load->isAtomic() ? AccessKind::AtomicRead : AccessKind::Read);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      add(instruction, store->getPointerOperandIndex(), store->getValueOperand()->getType(),
          store->isAtomic() ? AccessKind::Atomic : AccessKind::Write);
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      add(instruction, llvm::AtomicRMWInst::getPointerOperandIndex(), update->getType(),
          AccessKind::Atomic);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      add(instruction, llvm::AtomicCmpXchgInst::getPointerOperandIndex(),
          exchange->getNewValOperand()->getType(), AccessKind::Atomic);
    } else if (auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      add_range(*fill, fill->getRawDestUse(), AccessKind::Write);
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(fill))
        add_range(*copy, copy->getRawSourceUse(), AccessKind::Read);
    }
  }

  std::vector<Access> found;

 private:
  void add(llvm::Instruction& instruction, unsigned pointer, llvm::Type* type, AccessKind kind) {
    const uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    llvm::Use& use = instruction.getOperandUse(pointer);
    if (bytes) found.push_back({&instruction, &use, use.get(), nullptr, bytes, kind});
  }

  void add_range(llvm::MemIntrinsic& call, llvm::Use& pointer, AccessKind kind) {
    found.push_back({&call, &pointer, pointer.get(), &call.getArgOperandUse(2), 0, kind});
  }

  const llvm::DataLayout& layout_;
};

}  // namespace

std::vector<Access> find_accesses(llvm::Function& kernel) {
  Finder finder(kernel);
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) finder.add(instruction);
  return finder.found;
}

llvm::Value* address_of(llvm::IRBuilder<>& b, const Access& access) {
  return b.CreateIntToPtr(b.CreatePtrToInt(access.written, b.getInt64Ty()), b.getPtrTy());
}

llvm::Value* bytes_of(llvm::IRBuilder<>& b, const Access& access) {
  return access.length ? b.CreateZExtOrTrunc(access.length->get(), b.getInt64Ty())
                       : b.getInt64(access.bytes);
}

llvm::Value* is_outside(llvm::IRBuilder<>& b, const Access& access, llvm::Value* offset,
                        llvm::Value* object_bytes) {
  llvm::Value* bytes = bytes_of(b, access);
  llvm::Value* outside = b.CreateOr(b.CreateICmpUGT(offset, object_bytes),
                                    b.CreateICmpUGT(bytes, b.CreateSub(object_bytes, offset)));
  return access.length ? b.CreateAnd(outside, b.CreateICmpNE(bytes, b.getInt64(0))) : outside;
}

bool is_device(const llvm::Value& pointer) {
  return pointer.getType()->getPointerAddressSpace() == static_cast<unsigned>(AddressSpace::Device);
}

bool is_shared(const llvm::Value& pointer) {
  return is_device(pointer) || pointer.getType()->getPointerAddressSpace() ==
                                   static_cast<unsigned>(AddressSpace::Threadgroup);
}

}  // namespace metal::cpu
