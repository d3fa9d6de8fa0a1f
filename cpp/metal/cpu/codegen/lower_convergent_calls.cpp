// The reference mode's barriers and SIMD-group functions: calls into the runtime, which switches
// fibres.
#include <map>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Loop;

constexpr const char* kCallPrefix = "metal_cpu_";

CallInst* as_convergent_call(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  const bool ours =
      callee && callee->isDeclaration() && callee->getName().starts_with(compiler::kRuntimePrefix);
  return ours ? call : nullptr;
}

llvm::Function* runtime_function(llvm::Module& module, llvm::StringRef name,
                                 llvm::FunctionType* type) {
  llvm::IRBuilder<> builder(module.getContext());
  std::vector<llvm::Type*> parameters = {builder.getPtrTy(), builder.getInt32Ty()};
  parameters.insert(parameters.end(), type->param_begin(), type->param_end());
  auto callee =
      module.getOrInsertFunction((kCallPrefix + name).str(),
                                 llvm::FunctionType::get(type->getReturnType(), parameters, false));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setConvergent();
  function->setDoesNotThrow();
  return function;
}

class SiteNumbering {
 public:
  explicit SiteNumbering(llvm::Function& body)
      : body_(body), dominators_(body), loops_(dominators_) {}

  void run() {
    for (Loop* loop : loops_.getLoopsInPreorder()) {
      llvm::simplifyLoop(loop, &dominators_, &loops_, nullptr, nullptr, nullptr,
                         /*PreserveLCSSA=*/false);
    }
    number_blocks();
    for (Loop* loop : loops_.getLoopsInPreorder()) {
      if (needs_reconvergence(*loop)) add_reconvergence(*loop);
    }
    number_calls();
  }

 private:
  // Orders blocks in reverse post-order. The blocks of a loop are consecutive, where its header is.
  void number_blocks() {
    std::map<const BasicBlock*, unsigned> position;
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&body_);
    for (BasicBlock* block : order) position.emplace(block, position.size());
    for (BasicBlock* block : order) {
      std::vector<unsigned> key = {position[block]};
      for (Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop()) {
        key.insert(key.begin(), position[loop->getHeader()]);
      }
      order_.emplace(std::move(key), block);
    }
  }

  static bool waits(BasicBlock& block) {
    return llvm::any_of(block, [](llvm::Instruction& instruction) {
      return as_convergent_call(instruction) != nullptr;
    });
  }

  // If threads pass every waiting call of a loop in every iteration, they need no extra
  // reconvergence.
  bool needs_reconvergence(Loop& loop) {
    bool any = false, conditional = false;
    for (BasicBlock* block : loop.blocks()) {
      if (!waits(*block)) continue;
      any = true;
      conditional |= loops_.getLoopFor(block) != &loop || !loop.getLoopLatch() ||
                     !dominators_.dominates(block, loop.getLoopLatch());
    }
    return any && conditional;
  }

  void add_reconvergence(Loop& loop) {
    llvm::SmallVector<BasicBlock*> latches;
    loop.getLoopLatches(latches);
    llvm::IRBuilder<> builder(body_.getContext());
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), false);
    auto reconverge = body_.getParent()->getOrInsertFunction("__metal_reconverge", type);
    for (BasicBlock* latch : latches) {
      builder.SetInsertPoint(latch->getTerminator());
      builder.CreateCall(reconverge);
    }
  }

  void number_calls() {
    uint32_t site = 0;
    for (auto& [key, block] : order_) {
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
        if (CallInst* call = as_convergent_call(instruction)) replace(*call, site++);
      }
    }
  }

  void replace(CallInst& call, uint32_t site) {
    llvm::StringRef name =
        call.getCalledFunction()->getName().drop_front(compiler::kRuntimePrefix.size());
    llvm::IRBuilder<> builder(&call);
    std::vector<llvm::Value*> operands = {body_.getArg(kGroupArgument), builder.getInt32(site)};
    operands.insert(operands.end(), call.arg_begin(), call.arg_end());
    CallInst* runtime = builder.CreateCall(
        runtime_function(*body_.getParent(), name, call.getFunctionType()), operands);
    runtime->setConvergent();
    copy_extensions(call, *runtime);
    call.replaceAllUsesWith(runtime);
    call.eraseFromParent();
  }

  // zeroext and signext belong to the calling convention.
  static void copy_extensions(const CallInst& from, CallInst& to) {
    const llvm::AttributeList attributes = from.getCalledFunction()->getAttributes();
    for (unsigned i = 0; i < from.arg_size(); ++i) {
      for (auto kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt}) {
        if (attributes.hasParamAttr(i, kind)) to.addParamAttr(i + 2, kind);
      }
    }
    for (auto kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt}) {
      if (attributes.hasRetAttr(kind)) to.addRetAttr(kind);
    }
  }

  llvm::Function& body_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::map<std::vector<unsigned>, BasicBlock*> order_;
};

}  // namespace

Cooperation find_cooperation(const llvm::Module& module) {
  auto found = Cooperation::None;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    llvm::StringRef name = function.getName();
    if (!name.consume_front(compiler::kRuntimePrefix)) continue;
    if (name.starts_with("simd")) return Cooperation::SimdGroups;
    if (name != "barrier") continue;
    found = Cooperation::Barriers;
    for (const llvm::User* user : function.users()) {
      const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(user->getOperand(0));
      if (scope && scope->isZero()) return Cooperation::SimdGroups;
    }
  }
  return found;
}

bool has_threadgroup_barriers(const llvm::Module& module) {
  const llvm::Function* barrier = module.getFunction("__metal_barrier");
  return barrier && llvm::any_of(barrier->users(), [](const llvm::User* user) {
           const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(user->getOperand(0));
           return !scope || !scope->isZero();
         });
}

void lower_convergent_calls(llvm::Function& body) { SiteNumbering(body).run(); }

}  // namespace metal::cpu
