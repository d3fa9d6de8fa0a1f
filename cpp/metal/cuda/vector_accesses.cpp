#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/trailing_zeros.h"

namespace metal::cuda {
namespace {

constexpr uint64_t kVector = 16;        // bytes that a thread accesses at once
constexpr uint64_t kMostExpanded = 64;  // bytes of a copy

// Otherwise the back end would copy eight bytes at a time. Nothing for other copies.
void expand_copy(llvm::MemTransferInst& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  const uint64_t bytes = length ? length->getZExtValue() : 0;
  if (bytes == 0 || bytes > kMostExpanded || bytes % kVector != 0 || copy.isVolatile()) return;
  llvm::IRBuilder<> b(&copy);
  auto* vector = llvm::FixedVectorType::get(b.getInt32Ty(), kVector / sizeof(uint32_t));
  llvm::SmallVector<llvm::Value*> values;
  for (uint64_t at = 0; at < bytes; at += kVector) {
    llvm::Value* from = b.CreateConstGEP1_64(b.getInt8Ty(), copy.getRawSource(), at);
    values.push_back(b.CreateAlignedLoad(vector, from, copy.getSourceAlign().valueOrOne()));
  }
  for (uint64_t at = 0; at < bytes; at += kVector) {
    llvm::Value* to = b.CreateConstGEP1_64(b.getInt8Ty(), copy.getRawDest(), at);
    b.CreateAlignedStore(values[at / kVector], to, copy.getDestAlign().valueOrOne());
  }
  copy.eraseFromParent();
}

template <typename Access>
void raise_alignment(Access& access, const llvm::Value* address, const TrailingZeros& zeros) {
  const llvm::Align found(std::min(uint64_t{1} << zeros.of(*address), kVector));
  access.setAlignment(std::max(access.getAlign(), found));
}

}  // namespace

void prepare_vectors(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == kShared && !variable.isDeclaration())
      variable.setAlignment(std::max(variable.getAlign().valueOrOne(), llvm::Align(kVector)));
  }
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) expand_copy(*copy);
    }
  }
}

void find_alignment(llvm::Function& kernel) {
  const TrailingZeros zeros(kernel);
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      raise_alignment(*load, load->getPointerOperand(), zeros);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      raise_alignment(*store, store->getPointerOperand(), zeros);
    }
  }
}

}  // namespace metal::cuda
