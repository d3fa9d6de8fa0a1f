#include "metal/cpu/vectorizer/control/split_at_barriers.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/build_loop.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/loops_of_gangs.h"
#include "metal/cpu/vectorizer/control/phase_loops.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

constexpr unsigned kFrameAlignment = 512;  // of the widest vector that is live across a barrier

// The only gang waits for nobody. The fences keep the code of other threads from moving across.
void fence_instead(llvm::Function& wide) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(wide))) {
    if (!is_barrier(instruction)) continue;
    new llvm::FenceInst(wide.getContext(), llvm::AtomicOrdering::SequentiallyConsistent,
                        llvm::SyncScope::SingleThread, &instruction);
    instruction.eraseFromParent();
  }
}

// Clones the function with one more argument, the memory for its frame.
llvm::Function* with_frame_argument(llvm::Function& wide) {
  llvm::FunctionType* type = wide.getFunctionType();
  llvm::SmallVector<llvm::Type*> types(type->params());
  types.push_back(llvm::PointerType::get(wide.getContext(), 0));
  auto* gang =
      llvm::Function::Create(llvm::FunctionType::get(type->getReturnType(), types, false),
                             llvm::Function::InternalLinkage, "kernel.gang", wide.getParent());
  gang->copyAttributesFrom(&wide);
  gang->removeFnAttr(llvm::Attribute::AlwaysInline);
  gang->splice(gang->begin(), &wide);
  for (unsigned i = 0; i < wide.arg_size(); ++i) {
    wide.getArg(i)->replaceAllUsesWith(gang->getArg(i));
    gang->getArg(i)->takeName(wide.getArg(i));
  }
  wide.eraseFromParent();
  return gang;
}

// A value is stored in the frame where it is computed. What is used after a loop gets a phi there,
// so that the loop does not store it in each iteration.
void add_phis_after_loops(llvm::Function& gang) {
  llvm::DominatorTree dominators(gang);
  const llvm::LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops)
    llvm::formLCSSARecursively(*loop, dominators, &loops, /*SE=*/nullptr);
}

class CoroutineBuilder {
 public:
  explicit CoroutineBuilder(llvm::Function& gang)
      : gang_(gang), module_(*gang.getParent()), b_(gang.getContext()) {}

  void build() {
    gang_.addFnAttr(llvm::Attribute::PresplitCoroutine);
    begin();
    suspend_ = BasicBlock::Create(gang_.getContext(), "suspend", &gang_);
    cleanup_ = BasicBlock::Create(gang_.getContext(), "cleanup", &gang_);
    llvm::SmallVector<llvm::Instruction*> places;
    for (llvm::Instruction& instruction : llvm::instructions(gang_)) {
      if (llvm::isa<llvm::CallInst, llvm::ReturnInst>(instruction)) places.push_back(&instruction);
    }
    for (llvm::Instruction* place : places) rewrite(*place);
    b_.SetInsertPoint(cleanup_);
    b_.CreateIntrinsic(llvm::Intrinsic::coro_free, {}, {id_, handle_});
    b_.CreateBr(suspend_);
    b_.SetInsertPoint(suspend_);
    b_.CreateIntrinsic(llvm::Intrinsic::coro_end, {},
                       {handle_, b_.getFalse(), llvm::ConstantTokenNone::get(gang_.getContext())});
    b_.CreateRetVoid();
  }

 private:
  void begin() {
    BasicBlock& entry = gang_.getEntryBlock();
    b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    Value* null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    id_ = b_.CreateIntrinsic(llvm::Intrinsic::coro_id, {},
                             {b_.getInt32(kFrameAlignment), null, null, null});
    auto report = module_.getOrInsertFunction(
        kFrameSize, llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt64Ty()}, false));
    b_.CreateCall(report, {b_.CreateIntrinsic(llvm::Intrinsic::coro_size, {b_.getInt64Ty()}, {})});
    handle_ = b_.CreateIntrinsic(llvm::Intrinsic::coro_begin, {},
                                 {id_, gang_.getArg(gang_.arg_size() - 1)});
  }

  void rewrite(llvm::Instruction& instruction) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (!is_barrier(*call)) return;
      BasicBlock* before = call->getParent();
      BasicBlock* after = before->splitBasicBlock(call, "after.barrier");
      call->eraseFromParent();
      before->getTerminator()->eraseFromParent();
      suspend(before, false, after);
    } else if (llvm::isa<llvm::ReturnInst>(instruction)) {
      BasicBlock* block = instruction.getParent();
      instruction.eraseFromParent();
      BasicBlock* never = BasicBlock::Create(gang_.getContext(), "never", &gang_);
      new llvm::UnreachableInst(gang_.getContext(), never);
      suspend(block, true, never);
    }
  }

  void suspend(BasicBlock* at, bool final, BasicBlock* resumed) {
    b_.SetInsertPoint(at);
    Value* state =
        b_.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {},
                           {llvm::ConstantTokenNone::get(gang_.getContext()), b_.getInt1(final)});
    llvm::SwitchInst* choice = b_.CreateSwitch(state, suspend_, 2);
    choice->addCase(b_.getInt8(0), resumed);
    choice->addCase(b_.getInt8(1), cleanup_);
  }

  llvm::Function& gang_;
  llvm::Module& module_;
  IRBuilder<> b_;
  Value* id_ = nullptr;
  Value* handle_ = nullptr;
  BasicBlock* suspend_ = nullptr;
  BasicBlock* cleanup_ = nullptr;
};

uint64_t replace_frame_size(llvm::Module& module) {
  uint64_t size = 0;
  llvm::Function* report = module.getFunction(kFrameSize);
  for (llvm::User* user : llvm::make_early_inc_range(report->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    size = checked_cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
    call->eraseFromParent();
  }
  report->eraseFromParent();
  return llvm::alignTo(size, kFrameAlignment);
}

// Builds the entry point: it allocates the frames, runs the first phase, then the others.
class PhasesBuilder {
 public:
  PhasesBuilder(llvm::Function& entry, const Variant& variant, uint64_t frame_size)
      : entry_(entry),
        variant_(variant),
        frame_size_(frame_size),
        b_(BasicBlock::Create(entry.getContext(), "entry", &entry)) {}

  void build(llvm::Function& gang_code, llvm::Function* resume) {
    make_frames();
    build_loop(b_, b_.getInt32(0), gangs_, 1, "gang", [&](Value* gang) {
      llvm::SmallVector<Value*> arguments = gang_arguments(b_, entry_.getArg(0), gang, variant_);
      arguments.push_back(frame(gang));
      b_.CreateCall(&gang_code, arguments);
    });
    if (resume) run_phases(*resume);
    b_.CreateRetVoid();
  }

 private:
  BasicBlock* block(const char* name) {
    return BasicBlock::Create(entry_.getContext(), name, &entry_);
  }

  void make_frames() {
    gangs_ = gang_count(b_, entry_.getArg(0), variant_);
    frames_ = b_.CreateAlloca(b_.getInt8Ty(), b_.CreateMul(b_.CreateZExt(gangs_, b_.getInt64Ty()),
                                                           b_.getInt64(frame_size_)));
    frames_->setAlignment(llvm::Align(kFrameAlignment));
  }

  Value* frame(Value* gang) {
    Value* offset = b_.CreateMul(b_.CreateZExt(gang, b_.getInt64Ty()), b_.getInt64(frame_size_));
    return b_.CreateGEP(b_.getInt8Ty(), frames_, offset);
  }

  // The phases end when every gang has returned: its frame then has no place to resume.
  void run_phases(llvm::Function& resume) {
    llvm::AllocaInst* living = b_.CreateAlloca(b_.getInt1Ty());
    BasicBlock* phase = block("phase");
    BasicBlock* done = block("done");
    b_.CreateBr(phase);
    b_.SetInsertPoint(phase);
    b_.CreateStore(b_.getFalse(), living);
    build_loop(b_, b_.getInt32(0), gangs_, 1, "next", [&](Value* number) {
      // The first gang runs last, as kernels let it overwrite what the others still read.
      resume_gang(resume, frame(b_.CreateSub(b_.CreateSub(gangs_, b_.getInt32(1)), number)),
                  living);
    });
    b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), living), phase, done);
    b_.SetInsertPoint(done);
  }

  void resume_gang(llvm::Function& resume, Value* place, Value* living) {
    BasicBlock* run = block("run");
    BasicBlock* ended = block("ended");
    b_.CreateCondBr(b_.CreateIsNull(b_.CreateLoad(b_.getPtrTy(), place)), ended, run);
    b_.SetInsertPoint(run);
    b_.CreateCall(&resume, {place})->setCallingConv(resume.getCallingConv());
    b_.CreateStore(b_.getTrue(), living);
    b_.CreateBr(ended);
    b_.SetInsertPoint(ended);
  }

  llvm::Function& entry_;
  const Variant& variant_;
  uint64_t frame_size_;
  IRBuilder<> b_;
  Value* gangs_ = nullptr;
  llvm::AllocaInst* frames_ = nullptr;
};

}  // namespace

bool is_barrier(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == kBarrier;
}

llvm::Function* make_phases_entry(llvm::Function& wide, const Variant& variant,
                                  Optimizer& optimizer) {
  if (variant.jammed > 1 && variant.jammed == variant.gangs_in_row * variant.rows) {
    fence_instead(wide);
    return make_all_gangs_entry({.wide = &wide}, variant);
  }
  if (make_phase_loops(wide, variant)) {
    if (has_loops_of_gangs(wide)) optimizer.unroll_marked(wide);
    return make_one_call_entry(wide);
  }
  llvm::Function* gang_code = with_frame_argument(wide);
  llvm::Module& module = *gang_code->getParent();
  llvm::Function* entry = create_entry(*gang_code);
  gang_code->removeFnAttr(llvm::Attribute::AlwaysInline);
  gang_code->removeFnAttr(llvm::Attribute::Convergent);
  add_phis_after_loops(*gang_code);
  CoroutineBuilder(*gang_code).build();
  gang_code->setLinkage(llvm::Function::ExternalLinkage);  // keeps it from being removed
  optimizer.split_coroutines(module);
  gang_code->setLinkage(llvm::Function::InternalLinkage);
  PhasesBuilder(*entry, variant, replace_frame_size(module))
      .build(*gang_code, module.getFunction("kernel.gang.resume"));
  return entry;
}

}  // namespace metal::cpu
