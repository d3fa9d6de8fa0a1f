#include "metal/cpu/vectorizer/memory/select_elements.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::AllocaInst;
using llvm::Instruction;
using llvm::Value;

constexpr uint64_t kMostElements = 8;
constexpr uint64_t kMostSelects = 64;  // of one array

// An array whose accesses are all known, each of one element.
class ShortArray {
 public:
  ShortArray(AllocaInst& variable, const llvm::DataLayout& layout)
      : variable_(variable), layout_(layout) {
    const auto bytes = variable.getAllocationSize(layout);
    known_ = bytes && variable.isStaticAlloca() && follow(variable) && element_;
    if (!known_) return;
    const uint64_t size = layout.getTypeStoreSize(element_);
    count_ = bytes->getFixedValue() / size;
    known_ = count_ * size == bytes->getFixedValue() && size == layout.getTypeAllocSize(element_) &&
             count_ <= kMostElements && chosen_.size() * count_ <= kMostSelects;
  }

  // Whether lanes may access different elements.
  bool varies(const ShapeAnalysis& analysis) const {
    return known_ && llvm::any_of(chosen_, [&](const Instruction* access) {
             return !analysis.shape(llvm::getLoadStorePointerOperand(access)).is_uniform();
           });
  }

  void choose() {
    for (Instruction* access : chosen_) {
      llvm::IRBuilder<> b(access);
      Value* offset = offset_of(b, const_cast<Value*>(llvm::getLoadStorePointerOperand(access)));
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) {
        load->replaceAllUsesWith(chosen_element(b, offset));
      } else {
        store_chosen(b, offset, access->getOperand(0));
      }
      access->eraseFromParent();
    }
  }

 private:
  bool follow(Value& pointer) {
    for (llvm::User* user : pointer.users()) {
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
        if (!follow(*address)) return false;
      } else if (auto* instruction = checked_cast<Instruction>(user);
                 !instruction->isLifetimeStartOrEnd() && !add(*instruction, pointer)) {
        return false;
      }
    }
    return true;
  }

  bool add(Instruction& access, const Value& pointer) {
    if (llvm::getLoadStorePointerOperand(&access) != &pointer) return false;
    if (access.getOperand(0) == &pointer && llvm::isa<llvm::StoreInst>(access)) return false;
    llvm::Type* type = llvm::getLoadStoreType(&access);
    if (access.isVolatile() || access.isAtomic()) return false;
    if (!type->isIntegerTy() && !type->isFloatingPointTy()) return false;
    if (element_ && element_ != type) return false;
    element_ = type;
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(type));
    llvm::APInt constant(64, 0);
    const Value* base = pointer.stripAndAccumulateConstantOffsets(layout_, constant, true);
    if (base != &variable_) {
      chosen_.push_back(&access);
      return true;
    }
    return constant.srem(static_cast<uint64_t>(size)) == 0;
  }

  Value* offset_of(llvm::IRBuilder<>& b, Value* pointer) {
    Value* total = b.getInt64(0);
    while (pointer != &variable_) {
      auto* address = checked_cast<llvm::GEPOperator>(pointer);
      total = b.CreateAdd(total, llvm::emitGEPOffset(&b, layout_, address));
      pointer = address->getPointerOperand();
    }
    return total;
  }

  uint64_t place(uint64_t element) const { return element * layout_.getTypeStoreSize(element_); }

  Value* address(llvm::IRBuilder<>& b, uint64_t element) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), &variable_, place(element));
  }

  Value* is_chosen(llvm::IRBuilder<>& b, Value* offset, uint64_t element) {
    return b.CreateICmpEQ(offset, b.getInt64(place(element)));
  }

  Value* chosen_element(llvm::IRBuilder<>& b, Value* offset) {
    Value* chosen = b.CreateLoad(element_, address(b, 0));
    for (uint64_t element = 1; element < count_; ++element) {
      Value* other = b.CreateLoad(element_, address(b, element));
      chosen = b.CreateSelect(is_chosen(b, offset, element), other, chosen);
    }
    return chosen;
  }

  void store_chosen(llvm::IRBuilder<>& b, Value* offset, Value* value) {
    for (uint64_t element = 0; element < count_; ++element) {
      Value* before = b.CreateLoad(element_, address(b, element));
      b.CreateStore(b.CreateSelect(is_chosen(b, offset, element), value, before),
                    address(b, element));
    }
  }

  AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  bool known_ = false;
  llvm::Type* element_ = nullptr;
  uint64_t count_ = 0;
  llvm::SmallVector<Instruction*> chosen_;  // accesses with an index that is not constant
};

}  // namespace

bool select_elements(llvm::Function& body, const BodyShapes& shapes,
                     llvm::FunctionAnalysisManager& analyses) {
  std::vector<ShortArray> found;
  {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
    const llvm::PostDominatorTree post_dominators(body);
    const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
    for (Instruction& instruction : llvm::instructions(body)) {
      auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
      if (!variable) continue;
      ShortArray array(*variable, body.getParent()->getDataLayout());
      if (array.varies(analysis)) found.push_back(std::move(array));
    }
  }
  for (ShortArray& array : found) array.choose();
  return !found.empty();
}

}  // namespace metal::cpu
