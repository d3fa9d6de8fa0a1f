#include "metal/compiler/element_alignment.h"

#include <algorithm>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace metal::compiler {
namespace {

// The elements of memory that is copied as bytes are unknown. This is the largest size of elements
// that are not vectors.
constexpr uint64_t kCopied = 4;

template <typename Access>
void limit_alignment(Access& access, llvm::Type* type, const llvm::DataLayout& layout) {
  access.setAlignment(std::min(access.getAlign(), layout.getABITypeAlign(type->getScalarType())));
}

void limit_copy(llvm::MemTransferInst& copy) {
  copy.setDestAlignment(std::min(copy.getDestAlign().valueOrOne(), llvm::Align(kCopied)));
  copy.setSourceAlignment(std::min(copy.getSourceAlign().valueOrOne(), llvm::Align(kCopied)));
}

}  // namespace

void assume_element_alignment(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
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

}  // namespace metal::compiler
