#include "metal/cpu/checks/check_builder.h"

#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/line_tables.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
CheckBuilder::CheckBuilder(llvm::Function& kernel) : kernel_(kernel) {
  llvm::BasicBlock& entry = kernel.getEntryBlock();
  llvm::Instruction* first = &*entry.getFirstNonPHIOrDbgOrAlloca();
  // Only those behind `first`: a move among the ones before it would bring them up again.
  for (llvm::Instruction& instruction :
       llvm::make_early_inc_range(llvm::make_range(first->getIterator(), entry.end()))) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable && variable->isStaticAlloca()) variable->moveBefore(first);
  }
  entry.splitBasicBlock(first);
  start_ = entry.getTerminator();
  llvm::IRBuilder<> b(start_);
  group_ = b.CreateCall(kernel.getParent()->getOrInsertFunction(kGroupMarker, b.getPtrTy()));
}

llvm::Constant* CheckBuilder::text(const std::string& text) {
  llvm::Constant*& known = texts_[text];
  if (!known) {
    auto* value = llvm::ConstantDataArray::getString(kernel_.getContext(), text);
    known = variable({value});
  }
  return known;
}

llvm::Constant* CheckBuilder::variable(llvm::ArrayRef<llvm::Constant*> members) {
  auto* value = members.size() == 1 ? members[0]
                                    : llvm::ConstantStruct::getAnon(kernel_.getContext(), members);
  return new llvm::GlobalVariable(*kernel_.getParent(), value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value, "check",
                                  /*InsertBefore=*/nullptr, llvm::GlobalValue::NotThreadLocal,
                                  /*AddressSpace=*/0);
}

llvm::Constant* CheckBuilder::site(const llvm::DebugLoc& location, const std::string& what) {
  const llvm::DILocation* place = compiler::user_location(location.get());
  if (!place) return site("", 0, 0, what);
  return site(place->getFilename().str(), place->getLine(), place->getColumn(), what);
}

llvm::Constant* CheckBuilder::line(const llvm::DILocation& place) {
  return site(place.getFilename().str(), place.getLine(), 0, "");
}

llvm::Constant* CheckBuilder::site(const std::string& file, unsigned line, unsigned column,
                                   const std::string& what) {
  llvm::Constant*& known = known_["site " + std::to_string(line) + ":" + std::to_string(column) +
                                  ":" + what + ":" + file];
  if (!known) {
    auto* number = llvm::Type::getInt32Ty(kernel_.getContext());
    known = variable({text(file), text(what), llvm::ConstantInt::get(number, line),
                      llvm::ConstantInt::get(number, column)});
  }
  return known;
}

llvm::Constant* CheckBuilder::object(const std::string& name, ObjectKind kind,
                                     uint64_t element_bytes) {
  llvm::Constant*& known = known_["object " + std::to_string(static_cast<uint32_t>(kind)) + ":" +
                                  std::to_string(element_bytes) + ":" + name];
  if (!known) {
    auto* number = llvm::Type::getInt32Ty(kernel_.getContext());
    known = variable(
        {text(name), llvm::ConstantInt::get(number, static_cast<uint32_t>(kind)),
         llvm::ConstantInt::get(number, std::clamp<uint64_t>(element_bytes, 1, UINT32_MAX))});
  }
  return known;
}

llvm::Constant* CheckBuilder::access(AccessKind kind) {
  return llvm::ConstantInt::get(llvm::Type::getInt32Ty(kernel_.getContext()),
                                static_cast<uint32_t>(kind));
}

llvm::AllocaInst* CheckBuilder::local(const char* name, llvm::Value* initial) {
  llvm::IRBuilder<> b(&*kernel_.getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* variable = b.CreateAlloca(initial->getType(), nullptr, name);
  b.SetInsertPoint(start_);
  b.CreateStore(initial, variable);
  return variable;
}

llvm::Value* CheckBuilder::thread() {
  if (thread_) return thread_;
  llvm::IRBuilder<> b(start_);
  const auto attribute = kernel_.getParent()->getOrInsertFunction(
      std::string(compiler::kBuiltinPrefix) + "thread_index_in_threadgroup",
      llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, /*isVarArg=*/false));
  return thread_ = b.CreateCall(attribute, {b.getInt32(0)});
}

llvm::Instruction* CheckBuilder::if_true(llvm::Value* condition, llvm::Instruction& before) {
  return llvm::SplitBlockAndInsertIfThen(condition, before.getIterator(), /*Unreachable=*/false);
}

llvm::Instruction* CheckBuilder::unlikely_if(llvm::Value* condition, llvm::Instruction& before) {
  return llvm::SplitBlockAndInsertIfThen(
      condition, before.getIterator(), /*Unreachable=*/false,
      llvm::MDBuilder(kernel_.getContext()).createUnlikelyBranchWeights());
}

void CheckBuilder::suspect_if(llvm::Value* condition, llvm::Instruction& before) {
  llvm::IRBuilder<> b(unlikely_if(condition, before));
  // It does not come back, so that what the kernel's memory holds is as it was for all that
  // follows.
  call(b, "metal_cpu_check_suspect", b.getVoidTy(), {})->setOnlyAccessesInaccessibleMemory();
}

llvm::CallInst* CheckBuilder::call(llvm::IRBuilder<>& b, const char* name, llvm::Type* result,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Value*> operands = {group_};
  operands.append(arguments.begin(), arguments.end());
  return declared_call(b, name, result, operands);
}

llvm::CallInst* CheckBuilder::lane_call(llvm::IRBuilder<>& b, llvm::StringRef name,
                                        llvm::Type* result,
                                        llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = declared_call(b, name, result, arguments);
  call->setConvergent();
  return call;
}

llvm::CallInst* CheckBuilder::declared_call(llvm::IRBuilder<>& b, llvm::StringRef name,
                                            llvm::Type* result,
                                            llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto callee = kernel_.getParent()->getOrInsertFunction(
      name, llvm::FunctionType::get(result, types, /*isVarArg=*/false));
  llvm::CallInst* call = b.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  return call;
}

const llvm::DebugLoc& access_location(const llvm::Instruction& access, const llvm::Value& pointer) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
  const bool known = address && compiler::user_location(address->getDebugLoc().get());
  return known ? address->getDebugLoc() : access.getDebugLoc();
}

}  // namespace metal::cpu
