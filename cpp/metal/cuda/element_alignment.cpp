#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

// The elements of memory that is copied as bytes are unknown. This is the largest size of elements
// that are not vectors.
constexpr uint64_t kCopied = 4;

// Threadgroup variables begin at such addresses, so that the optimiser can join accesses to
// elements that lie side by side.
constexpr uint64_t kVector = 16;
constexpr uint64_t kMostExpanded = 64;

template <typename Access>
void limit_alignment(Access& access, llvm::Type* type, const llvm::DataLayout& layout) {
  access.setAlignment(std::min(access.getAlign(), layout.getABITypeAlign(type->getScalarType())));
}

// A copy of a few vectors becomes loads and stores of vectors. Otherwise the back end would copy
// eight bytes at a time.
bool expand_copy(llvm::MemTransferInst& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  const uint64_t bytes = length ? length->getZExtValue() : 0;
  if (bytes == 0 || bytes > kMostExpanded || bytes % kVector != 0 || copy.isVolatile())
    return false;
  llvm::IRBuilder<> b(&copy);
  auto* vector = llvm::FixedVectorType::get(b.getInt32Ty(), kVector / kCopied);
  llvm::SmallVector<llvm::Value*> values;
  for (uint64_t at = 0; at < bytes; at += kVector) {
    llvm::Value* from = b.CreateConstGEP1_64(b.getInt8Ty(), copy.getRawSource(), at);
    values.push_back(b.CreateAlignedLoad(vector, from, copy.getSourceAlign().valueOrOne()));
  }
  for (uint64_t at = 0; at < bytes; at += kVector) {
    llvm::Value* to = b.CreateConstGEP1_64(b.getInt8Ty(), copy.getRawDest(), at);
    b.CreateAlignedStore(values[at / kVector], to, copy.getDestAlign().valueOrOne());
  }
  return true;
}

void limit_copy(llvm::MemTransferInst& copy) {
  copy.setDestAlignment(std::min(copy.getDestAlign().valueOrOne(), llvm::Align(kCopied)));
  copy.setSourceAlignment(std::min(copy.getSourceAlign().valueOrOne(), llvm::Align(kCopied)));
  if (expand_copy(copy)) copy.eraseFromParent();
}

template <typename Access>
void raise_alignment(Access& access, llvm::Value* address, llvm::ScalarEvolution& evolution) {
  const uint32_t zeros = evolution.getMinTrailingZeros(evolution.getSCEV(address));
  const llvm::Align found(std::min(uint64_t{1} << std::min(zeros, 16u), kVector));
  access.setAlignment(std::max(access.getAlign(), found));
}

}  // namespace

void find_alignment(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(kernel);
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      raise_alignment(*load, load->getPointerOperand(), evolution);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      raise_alignment(*store, store->getPointerOperand(), evolution);
    }
  }
}

void assume_element_alignment(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == kShared && !variable.isDeclaration())
      variable.setAlignment(std::max(variable.getAlign().valueOrOne(), llvm::Align(kVector)));
  }
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        limit_alignment(*load, load->getType(), layout);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        limit_alignment(*store, store->getValueOperand()->getType(), layout);
      } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
        limit_copy(*copy);
      }
    }
  }
}

}  // namespace metal::cuda
