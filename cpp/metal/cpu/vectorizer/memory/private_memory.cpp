#include "metal/cpu/vectorizer/memory/private_memory.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/uniform_variables.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
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
    known_ = follow(variable, 0);
    of_one_size_ = known_ && size_ != 0 && sizes_fit_ && steps_fit();
  }

  bool known() const { return known_; }
  bool of_one_size() const { return of_one_size_; }
  uint64_t size() const { return size_; }  // bytes
  const std::vector<llvm::Instruction*>& list() const { return list_; }

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
        add(*checked_cast<llvm::Instruction>(user));
      } else {
        return false;
      }
    }
    return true;
  }

  void add(llvm::Instruction& access) {
    const uint64_t size = layout_.getTypeStoreSize(llvm::getLoadStoreType(&access));
    if (size_ == 0) size_ = size;
    sizes_fit_ &= size == size_ && llvm::isPowerOf2_64(size);
    list_.push_back(&access);
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
  bool known_ = false;
  bool of_one_size_ = false;
  bool sizes_fit_ = true;
  uint64_t size_ = 0;
  std::vector<llvm::Instruction*> list_;
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
  PrivateLayout(llvm::Function& body, llvm::Argument& lane, const BodyShapes& shapes)
      : body_(body),
        layout_(body.getParent()->getDataLayout()),
        lane_(lane),
        shapes_(shapes),
        width_(shapes.width) {}

  void run() {
    std::vector<PrivateVariable> uniform;  // as far as is known
    std::vector<AllocaInst*> others;
    for (llvm::Instruction& instruction : llvm::instructions(body_)) {
      auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
      if (!variable) continue;
      const Accesses accesses(*variable, layout_);
      if (accesses.known()) {
        uniform.push_back({variable, accesses.list()});
      } else {
        others.push_back(variable);
      }
    }
    for (AllocaInst* variable : others) place(*variable);
    while (!uniform.empty() && place_different(uniform)) {
    }
  }

 private:
  // Values that are read from these variables then differ as well, so others may turn out to be
  // different, too. True if there was such a variable.
  bool place_different(std::vector<PrivateVariable>& uniform) {
    const llvm::DominatorTree dominators(body_);
    const llvm::PostDominatorTree post_dominators(body_);
    const llvm::LoopInfo loops(dominators);
    std::vector<AllocaInst*> different;
    {
      const ShapeAnalysis analysis(body_, shapes_, post_dominators, loops);
      std::erase_if(uniform, [&](const PrivateVariable& variable) {
        if (is_same_in_all_lanes(variable, analysis, post_dominators)) return false;
        different.push_back(variable.memory);
        return true;
      });
    }
    for (AllocaInst* variable : different) place(*variable);
    return !different.empty();
  }

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
  const BodyShapes& shapes_;
  unsigned width_;
};

}  // namespace

void layout_private_memory(llvm::Function& body, llvm::Argument& lane, const BodyShapes& shapes) {
  PrivateLayout(body, lane, shapes).run();
}

}  // namespace metal::cpu
