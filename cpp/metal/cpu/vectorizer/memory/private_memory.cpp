#include "metal/cpu/vectorizer/memory/private_memory.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::AllocaInst;
using llvm::IRBuilder;
using llvm::Value;

// The accesses to one variable. They are known if all use addresses computed from it.
class Accesses {
 public:
  Accesses(AllocaInst& variable, const llvm::DataLayout& layout) : layout_(layout) {
    uniform_ = follow(variable, 0) && size_ != 0;
  }

  bool of_one_size() const { return uniform_; }
  uint64_t size() const { return size_; }  // bytes
  const llvm::SmallVector<llvm::Instruction*>& list() const { return list_; }

 private:
  bool follow(Value& pointer, int depth) {
    if (depth > 32) return false;
    for (llvm::User* user : pointer.users()) {
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
        addresses_.push_back(address);
        if (!follow(*address, depth + 1)) return false;
      } else if (llvm::isa<llvm::LoadInst>(user) ||
                 (llvm::isa<llvm::StoreInst>(user) &&
                  checked_cast<llvm::StoreInst>(user)->getPointerOperand() == &pointer)) {
        if (!add(*checked_cast<llvm::Instruction>(user))) return false;
      } else {
        return false;
      }
    }
    return depth > 0 || steps_fit();
  }

  bool add(llvm::Instruction& access) {
    const uint64_t size = layout_.getTypeStoreSize(llvm::getLoadStoreType(&access));
    if (size_ == 0) size_ = size;
    list_.push_back(&access);
    return size == size_ && llvm::isPowerOf2_64(size);
  }

  // Whether every step in an address is a multiple of the size of an element.
  bool steps_fit() const {
    for (const llvm::GetElementPtrInst* address : addresses_) {
      llvm::MapVector<Value*, llvm::APInt> variable;
      llvm::APInt constant(layout_.getIndexTypeSizeInBits(address->getType()), 0);
      if (!address->collectOffset(layout_, constant.getBitWidth(), variable, constant))
        return false;
      if (constant.urem(size_) != 0) return false;
      for (const auto& [index, scale] : variable) {
        if (scale.urem(size_) != 0) return false;
      }
    }
    return true;
  }

  const llvm::DataLayout& layout_;
  bool uniform_ = false;
  uint64_t size_ = 0;
  llvm::SmallVector<llvm::Instruction*> list_;
  llvm::SmallVector<llvm::GetElementPtrInst*> addresses_;
};

// The offset in bytes from the start of the variable, computed at the access.
Value* offset_in(IRBuilder<>& builder, Value* pointer, const AllocaInst* variable,
                 const llvm::DataLayout& layout) {
  Value* total = builder.getInt64(0);
  while (pointer != variable) {
    auto* address = checked_cast<llvm::GEPOperator>(pointer);
    total = builder.CreateAdd(total, llvm::emitGEPOffset(&builder, layout, address));
    pointer = address->getPointerOperand();
  }
  return total;
}

class PrivateLayout {
 public:
  PrivateLayout(llvm::Function& body, llvm::Argument& lane, unsigned width)
      : body_(body), layout_(body.getParent()->getDataLayout()), lane_(lane), width_(width) {}

  void run() {
    llvm::SmallVector<AllocaInst*> variables;
    for (llvm::Instruction& instruction : llvm::instructions(body_)) {
      if (auto* variable = llvm::dyn_cast<AllocaInst>(&instruction)) variables.push_back(variable);
    }
    for (AllocaInst* variable : variables) place(*variable);
  }

 private:
  void place(AllocaInst& variable) {
    const uint64_t size = variable.getAllocationSize(layout_)->getFixedValue();
    const uint64_t align = std::max<uint64_t>(variable.getAlign().value(), 8);
    const uint64_t stride = llvm::alignTo(size, align);
    IRBuilder<> builder(&variable);
    const Accesses accesses(variable, layout_);
    const bool interleaves = accesses.of_one_size();
    // An access that reads the same part of all copies as one block may read beyond the first and
    // last copies.
    const uint64_t copies = interleaves ? width_ : width_ + 2;
    auto* type = llvm::ArrayType::get(builder.getInt8Ty(), stride * copies);
    AllocaInst* all = builder.CreateAlloca(type, nullptr, variable.getName() + ".lanes");
    all->setAlignment(llvm::Align(64));
    set_copy_distance(*all, interleaves ? accesses.size() : stride);
    if (interleaves) {
      for (llvm::Instruction* access : accesses.list())
        interleave(*access, variable, *all, accesses.size());
      remove_dead(variable);
      return;
    }
    Value* copy =
        builder.CreateAdd(builder.CreateZExt(&lane_, builder.getInt64Ty()), builder.getInt64(1));
    Value* place = builder.CreateMul(copy, builder.getInt64(stride));
    variable.replaceAllUsesWith(builder.CreateGEP(builder.getInt8Ty(), all, place));
    variable.eraseFromParent();
  }

  void interleave(llvm::Instruction& access, AllocaInst& variable, AllocaInst& all, uint64_t size) {
    IRBuilder<> builder(&access);
    const unsigned operand = llvm::isa<llvm::LoadInst>(access) ? 0 : 1;
    Value* offset = offset_in(builder, access.getOperand(operand), &variable, layout_);
    Value* row = builder.CreateGEP(builder.getInt8Ty(), &all,
                                   builder.CreateMul(offset, builder.getInt64(width_)));
    Value* lane = builder.CreateZExt(&lane_, builder.getInt64Ty());
    access.setOperand(operand, builder.CreateGEP(builder.getInt8Ty(), row,
                                                 builder.CreateMul(lane, builder.getInt64(size))));
  }

  static void remove_dead(AllocaInst& variable) {
    llvm::SmallVector<llvm::Instruction*> order = {&variable};
    for (size_t i = 0; i < order.size(); ++i) {
      for (llvm::User* user : order[i]->users())
        order.push_back(checked_cast<llvm::Instruction>(user));
    }
    llvm::DenseSet<llvm::Instruction*> gone;
    for (llvm::Instruction* instruction : llvm::reverse(order)) {
      if (gone.insert(instruction).second) instruction->eraseFromParent();
    }
  }

  llvm::Function& body_;
  const llvm::DataLayout& layout_;
  llvm::Argument& lane_;
  unsigned width_;
};

}  // namespace

void layout_private_memory(llvm::Function& body, llvm::Argument& lane, unsigned width) {
  PrivateLayout(body, lane, width).run();
}

}  // namespace metal::cpu
