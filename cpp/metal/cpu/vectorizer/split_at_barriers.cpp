#include "metal/cpu/vectorizer/split_at_barriers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/cpu/build_loop.h"
#include "metal/cpu/group_access.h"
#include "metal/cpu/lower.h"
#include "metal/cpu/optimizer.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

constexpr unsigned kFrameAlignment = 512;  // of the widest vector that lives across a barrier
constexpr const char* kFrameSize = "simd.frame_size";  // called with the size of the frame

// The same function with one more argument: memory for its frame.
llvm::Function* with_frame_argument(llvm::Function& wide) {
  llvm::FunctionType* type = wide.getFunctionType();
  llvm::SmallVector<llvm::Type*> types(type->params());
  types.push_back(llvm::PointerType::get(wide.getContext(), 0));
  auto* unit =
      llvm::Function::Create(llvm::FunctionType::get(type->getReturnType(), types, false),
                             llvm::Function::InternalLinkage, "kernel.unit", wide.getParent());
  unit->copyAttributesFrom(&wide);
  unit->removeFnAttr(llvm::Attribute::AlwaysInline);
  unit->splice(unit->begin(), &wide);
  for (unsigned i = 0; i < wide.arg_size(); ++i) {
    wide.getArg(i)->replaceAllUsesWith(unit->getArg(i));
    unit->getArg(i)->takeName(wide.getArg(i));
  }
  wide.eraseFromParent();
  return unit;
}

class CoroutineBuilder {
 public:
  explicit CoroutineBuilder(llvm::Function& unit)
      : unit_(unit), module_(*unit.getParent()), b_(unit.getContext()) {}

  void build() {
    unit_.addFnAttr(llvm::Attribute::PresplitCoroutine);
    begin();
    suspend_ = BasicBlock::Create(unit_.getContext(), "suspend", &unit_);
    cleanup_ = BasicBlock::Create(unit_.getContext(), "cleanup", &unit_);
    llvm::SmallVector<llvm::Instruction*> places;
    for (llvm::Instruction& instruction : llvm::instructions(unit_)) {
      if (llvm::isa<llvm::CallInst, llvm::ReturnInst>(instruction)) places.push_back(&instruction);
    }
    for (llvm::Instruction* place : places) rewrite(*place);
    b_.SetInsertPoint(cleanup_);
    b_.CreateIntrinsic(llvm::Intrinsic::coro_free, {}, {id_, handle_});
    b_.CreateBr(suspend_);
    b_.SetInsertPoint(suspend_);
    b_.CreateIntrinsic(llvm::Intrinsic::coro_end, {},
                       {handle_, b_.getFalse(), llvm::ConstantTokenNone::get(unit_.getContext())});
    b_.CreateRetVoid();
  }

 private:
  void begin() {
    BasicBlock& entry = unit_.getEntryBlock();
    b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    Value* null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    id_ = b_.CreateIntrinsic(llvm::Intrinsic::coro_id, {},
                             {b_.getInt32(kFrameAlignment), null, null, null});
    auto report = module_.getOrInsertFunction(
        kFrameSize, llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt64Ty()}, false));
    b_.CreateCall(report, {b_.CreateIntrinsic(llvm::Intrinsic::coro_size, {b_.getInt64Ty()}, {})});
    handle_ = b_.CreateIntrinsic(llvm::Intrinsic::coro_begin, {},
                                 {id_, unit_.getArg(unit_.arg_size() - 1)});
  }

  void rewrite(llvm::Instruction& instruction) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (!callee || callee->getName() != kBarrierCall) return;
      BasicBlock* before = call->getParent();
      BasicBlock* after = before->splitBasicBlock(call, "after.barrier");
      call->eraseFromParent();
      before->getTerminator()->eraseFromParent();
      suspend(before, false, after);
    } else if (llvm::isa<llvm::ReturnInst>(instruction)) {
      BasicBlock* block = instruction.getParent();
      instruction.eraseFromParent();
      BasicBlock* never = BasicBlock::Create(unit_.getContext(), "never", &unit_);
      new llvm::UnreachableInst(unit_.getContext(), never);
      suspend(block, true, never);
    }
  }

  void suspend(BasicBlock* at, bool final, BasicBlock* resumed) {
    b_.SetInsertPoint(at);
    Value* state =
        b_.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {},
                           {llvm::ConstantTokenNone::get(unit_.getContext()), b_.getInt1(final)});
    llvm::SwitchInst* choice = b_.CreateSwitch(state, suspend_, 2);
    choice->addCase(b_.getInt8(0), resumed);
    choice->addCase(b_.getInt8(1), cleanup_);
  }

  llvm::Function& unit_;
  llvm::Module& module_;
  IRBuilder<> b_;
  Value* id_ = nullptr;
  Value* handle_ = nullptr;
  BasicBlock* suspend_ = nullptr;
  BasicBlock* cleanup_ = nullptr;
};

uint64_t take_frame_size(llvm::Module& module) {
  uint64_t size = 0;
  llvm::Function* report = module.getFunction(kFrameSize);
  for (llvm::User* user : llvm::make_early_inc_range(report->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    size = llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
    call->eraseFromParent();
  }
  report->eraseFromParent();
  return llvm::alignTo(size, kFrameAlignment);
}

}  // namespace

llvm::Function* make_turns_entry(llvm::Function& wide, const Variant& variant,
                                 Optimizer& optimizer) {
  llvm::Function* unit_code = with_frame_argument(wide);
  llvm::Module& module = *unit_code->getParent();
  llvm::Function* entry = create_entry(*unit_code);
  unit_code->removeFnAttr(llvm::Attribute::AlwaysInline);
  unit_code->removeFnAttr(llvm::Attribute::Convergent);
  CoroutineBuilder(*unit_code).build();
  unit_code->setLinkage(llvm::Function::ExternalLinkage);  // else it counts as dead
  optimizer.split_coroutines(module);
  unit_code->setLinkage(llvm::Function::InternalLinkage);
  const uint64_t frame_size = take_frame_size(module);
  llvm::Function* resume = module.getFunction("kernel.unit.resume");

  IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", entry));
  Value* group_pointer = entry->getArg(0);
  GroupAccess group(b, group_pointer);
  Value* count = b.CreateMul(b.CreateMul(group.size(0), group.size(1)), group.size(2));
  Value* units =
      b.CreateUDiv(b.CreateAdd(count, b.getInt32(variant.width - 1)), b.getInt32(variant.width));
  llvm::AllocaInst* frames = b.CreateAlloca(
      b.getInt8Ty(), b.CreateMul(b.CreateZExt(units, b.getInt64Ty()), b.getInt64(frame_size)));
  frames->setAlignment(llvm::Align(kFrameAlignment));
  auto frame = [&](Value* unit) {
    return b.CreateGEP(b.getInt8Ty(), frames,
                       b.CreateMul(b.CreateZExt(unit, b.getInt64Ty()), b.getInt64(frame_size)));
  };
  build_loop(b, b.getInt32(0), units, 1, "unit", [&](Value* unit) {
    llvm::SmallVector<Value*> arguments = unit_arguments(b, group_pointer, unit, variant);
    arguments.push_back(frame(unit));
    b.CreateCall(unit_code, arguments);
  });
  if (!resume) {
    b.CreateRetVoid();
    return entry;
  }
  // Turn after turn, until every unit has ended: then it has nowhere to go on.
  llvm::AllocaInst* living = b.CreateAlloca(b.getInt1Ty());
  BasicBlock* turn = BasicBlock::Create(module.getContext(), "turn", entry);
  BasicBlock* done = BasicBlock::Create(module.getContext(), "done", entry);
  b.CreateBr(turn);
  b.SetInsertPoint(turn);
  b.CreateStore(b.getFalse(), living);
  build_loop(b, b.getInt32(0), units, 1, "next", [&](Value* number) {
    // The first unit comes last: kernels let it overwrite what the others have still to read.
    Value* place = frame(b.CreateSub(b.CreateSub(units, b.getInt32(1)), number));
    Value* next = b.CreateLoad(b.getPtrTy(), place);
    BasicBlock* run = BasicBlock::Create(module.getContext(), "run", entry);
    BasicBlock* ended = BasicBlock::Create(module.getContext(), "ended", entry);
    b.CreateCondBr(b.CreateIsNull(next), ended, run);
    b.SetInsertPoint(run);
    llvm::CallInst* call = b.CreateCall(resume, {place});
    call->setCallingConv(resume->getCallingConv());
    b.CreateStore(b.getTrue(), living);
    b.CreateBr(ended);
    b.SetInsertPoint(ended);
  });
  b.CreateCondBr(b.CreateLoad(b.getInt1Ty(), living), turn, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return entry;
}

}  // namespace metal::cpu
