#include "metal/cpu/vectorizer/legalize/select_addresses.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// A load that only this select uses, and that gives the same value if it is made just before it.
llvm::LoadInst* load_for(Value* value, const llvm::SelectInst& select) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load || !load->isSimple() || !load->hasOneUse() || load->getParent() != select.getParent())
    return nullptr;
  for (auto i = load->getIterator(); &*i != &select; ++i) {
    if (i->mayWriteToMemory()) return nullptr;
  }
  return load;
}

class AddressSelection {
 public:
  explicit AddressSelection(llvm::Module& module) : module_(module) {}

  void run(llvm::SelectInst& select) {
    if (!select.getType()->isVectorTy() || select.getCondition()->getType()->isVectorTy()) return;
    const bool reads_first = !llvm::isa<llvm::Constant>(select.getTrueValue());
    Value* read = reads_first ? select.getTrueValue() : select.getFalseValue();
    auto* other = llvm::dyn_cast<llvm::Constant>(reads_first ? select.getFalseValue()
                                                             : select.getTrueValue());
    llvm::LoadInst* load = load_for(read, select);
    if (!load || !other) return;
    llvm::IRBuilder<> b(&select);
    Value* address = load->getPointerOperand();
    Value* constant = llvm::ConstantExpr::getAddrSpaceCast(in_memory(other, load->getAlign()),
                                                           address->getType());
    llvm::LoadInst* chosen =
        b.CreateAlignedLoad(select.getType(),
                            b.CreateSelect(select.getCondition(), reads_first ? address : constant,
                                           reads_first ? constant : address),
                            load->getAlign());
    chosen->takeName(&select);
    select.replaceAllUsesWith(chosen);
    select.eraseFromParent();
    load->eraseFromParent();
  }

 private:
  // The constant in memory, with the alignment of the load whose place it takes.
  llvm::GlobalVariable* in_memory(llvm::Constant* constant, llvm::Align align) {
    llvm::GlobalVariable*& variable = variables_[constant];
    if (!variable) {
      variable = new llvm::GlobalVariable(module_, constant->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, constant);
      variable->setAlignment(llvm::Align(64));
    }
    variable->setAlignment(std::max(variable->getAlign().valueOrOne(), align));
    return variable;
  }

  llvm::Module& module_;
  llvm::DenseMap<llvm::Constant*, llvm::GlobalVariable*> variables_;
};

}  // namespace

void select_addresses(llvm::Module& module) {
  AddressSelection selection(module);
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::SelectInst*> selects;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) selects.push_back(select);
    }
    for (llvm::SelectInst* select : selects) selection.run(*select);
  }
}

}  // namespace metal::cpu
