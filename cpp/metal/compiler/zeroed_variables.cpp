// Clears threadgroup variables declared with zeros, as in `threadgroup float x[32] = {0};`.
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/barriers.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

using llvm::Value;

// The functions and variables that a function uses, directly or through others.
class Mentions {
 public:
  explicit Mentions(llvm::Function& kernel) {
    seen_.insert(&kernel);
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (auto* function = llvm::dyn_cast<llvm::Function>(seen_[i])) {
        for (llvm::Instruction& instruction : llvm::instructions(*function)) add(instruction);
      } else if (auto* constant = llvm::dyn_cast<llvm::User>(seen_[i])) {
        add(*constant);
      }
    }
  }

  bool contain(llvm::Constant* constant) const { return seen_.contains(constant); }

 private:
  void add(llvm::User& user) {
    for (Value* operand : user.operands()) {
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) seen_.insert(constant);
    }
  }

  llvm::SetVector<llvm::Constant*> seen_;
};

Value* attribute(llvm::IRBuilder<>& builder, const char* name, uint32_t component) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto* getter = checked_cast<llvm::Function>(
      module
          .getOrInsertFunction(std::string(kBuiltinPrefix) + name, builder.getInt32Ty(),
                               builder.getInt32Ty())
          .getCallee());
  getter->setDoesNotAccessMemory();
  getter->setDoesNotThrow();
  getter->setWillReturn();
  return builder.CreateCall(getter, {builder.getInt32(component)});
}

// for (i = thread; i < words; i += threads) variable[i] = 0;
void clear(llvm::IRBuilder<>& builder, llvm::GlobalVariable& variable, Value* thread,
           Value* threads) {
  const uint64_t bytes =
      variable.getParent()->getDataLayout().getTypeAllocSize(variable.getValueType());
  const bool whole = bytes % 4 == 0 && variable.getAlign().valueOrOne() >= 4;
  llvm::Type* word = whole ? builder.getInt32Ty() : builder.getInt8Ty();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* after = before->splitBasicBlock(builder.GetInsertPoint(), "cleared");
  auto* head = llvm::BasicBlock::Create(builder.getContext(), "clear", before->getParent(), after);
  auto* body =
      llvm::BasicBlock::Create(builder.getContext(), "clear.word", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, head);
  builder.SetInsertPoint(head);
  llvm::PHINode* i = builder.CreatePHI(builder.getInt32Ty(), 2);
  i->addIncoming(thread, before);
  const auto words = static_cast<uint32_t>(whole ? bytes / 4 : bytes);
  builder.CreateCondBr(builder.CreateICmpULT(i, builder.getInt32(words)), body, after);
  builder.SetInsertPoint(body);
  Value* index = builder.CreateZExt(i, builder.getInt64Ty());
  builder.CreateStore(llvm::Constant::getNullValue(word),
                      builder.CreateInBoundsGEP(word, &variable, index));
  i->addIncoming(builder.CreateAdd(i, threads), body);
  builder.CreateBr(head);
  builder.SetInsertPoint(after, after->begin());
}

}  // namespace

std::vector<llvm::GlobalVariable*> find_zeroed(llvm::Module& module) {
  std::vector<llvm::GlobalVariable*> zeroed;
  auto* annotations = module.getGlobalVariable("llvm.global.annotations");
  if (!annotations) return zeroed;
  for (Value* entry :
       checked_cast<llvm::ConstantArray>(annotations->getInitializer())->operands()) {
    auto* fields = checked_cast<llvm::ConstantStruct>(entry);
    auto* variable =
        llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(0)->stripPointerCasts());
    auto* text = llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(1)->stripPointerCasts());
    if (!variable || !text) continue;
    const auto* data = llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer());
    if (data && data->isCString() && data->getAsCString() == annotation_name("__zeroed"))
      zeroed.push_back(variable);
  }
  return zeroed;
}

void clear_zeroed(llvm::Function& kernel, llvm::ArrayRef<llvm::GlobalVariable*> zeroed) {
  const Mentions mentions(kernel);
  std::vector<llvm::GlobalVariable*> mine;
  for (llvm::GlobalVariable* variable : zeroed) {
    if (mentions.contain(variable)) mine.push_back(variable);
  }
  if (mine.empty()) return;
  llvm::BasicBlock& entry = kernel.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value* thread = attribute(builder, "thread_index_in_threadgroup", 0);
  Value* threads = builder.getInt32(1);
  for (uint32_t axis = 0; axis < 3; ++axis)
    threads = builder.CreateMul(threads, attribute(builder, "threads_per_threadgroup", axis));
  for (llvm::GlobalVariable* variable : mine) clear(builder, *variable, thread, threads);
  create_threadgroup_barrier(builder);
}

}  // namespace metal::compiler
