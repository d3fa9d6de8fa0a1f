#include "metal/cpu/checks/collisions.h"

#include <algorithm>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

bool all_differ(const Shape& place) {
  if (!place.has_offsets() || place.is_uniform()) return false;
  Shape::Offsets offsets = place.offsets();
  std::ranges::sort(offsets);
  return std::ranges::adjacent_find(offsets) == offsets.end();
}

void replace(llvm::CallInst& call, llvm::Value* value) {
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

}  // namespace

llvm::Value* create_collision_test(llvm::IRBuilder<>& b, llvm::Value* place, llvm::Value* number) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto callee = module.getOrInsertFunction(
      kCollides, llvm::FunctionType::get(b.getInt1Ty(), {place->getType(), number->getType()},
                                         /*isVarArg=*/false));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setOnlyReadsMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return b.CreateCall(callee, {place, number});
}

void expand_collision_tests(llvm::Function& body, const BodyShapes& shapes) {
  llvm::Function* marker = body.getParent()->getFunction(kCollides);
  if (!marker) return;
  const llvm::DominatorTree dominators(body);
  const llvm::PostDominatorTree post_dominators(body);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  llvm::SmallVector<std::pair<llvm::CallInst*, bool>> tests;
  for (llvm::User* user : marker->users()) {
    auto* call = checked_cast<llvm::CallInst>(user);
    if (call->getFunction() == &body)
      tests.emplace_back(call, all_differ(analysis.shape(call->getArgOperand(0))));
  }
  for (const auto& [call, differ] : tests) {
    llvm::IRBuilder<> b(call);
    llvm::Value* number = call->getArgOperand(1);
    auto read = [&] { return b.CreateLoad(number->getType(), call->getArgOperand(0)); };
    replace(*call, differ ? b.getFalse() : b.CreateICmpNE(read(), number));
  }
}

void drop_collision_tests(llvm::Module& module) {
  llvm::Function* marker = module.getFunction(kCollides);
  if (!marker) return;
  for (llvm::User* user : llvm::make_early_inc_range(marker->users()))
    replace(*checked_cast<llvm::CallInst>(user), llvm::ConstantInt::getFalse(module.getContext()));
  marker->eraseFromParent();
}

}  // namespace metal::cpu
