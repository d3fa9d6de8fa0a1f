#include "metal/cpu/vectorizer/control/interchange_loop.h"

#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::SCEV;
using llvm::Value;

constexpr uint64_t kFar = 4096;          // bytes; a page of memory
constexpr uint64_t kMaxStep = 1u << 16;  // from one thread's first number to the next one's
constexpr int kMaxRepeated = 64;         // instructions outside the loop, for each iteration

// A loop that runs while a number is below a limit.
struct CountedLoop {
  llvm::Loop* loop;
  PHINode* number;  // counts up
  Value* limit;     // the same in all iterations
  bool is_signed;
  // Whether the number of the next iteration is compared, or that of the one that ends: LLVM takes
  // a constant step off a constant limit instead of adding it to the number.
  bool compares_next;
  // Threads of a row start with numbers that are so far apart if all are at most `greatest_start`.
  uint64_t thread_step;
  uint64_t greatest_start;
};

class LoopFinder {
 public:
  LoopFinder(llvm::Function& body, llvm::FunctionAnalysisManager& analyses)
      : body_(body),
        loops_(analyses.getResult<llvm::LoopAnalysis>(body)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(body)),
        aliases_(analyses.getResult<llvm::AAManager>(body)) {}

  std::optional<CountedLoop> find() {
    if (loops_.getTopLevelLoops().size() != 1) return std::nullopt;
    loop_ = loops_.getTopLevelLoops().front();
    if (!loop_->isLoopSimplifyForm() || loop_->getExitingBlock() != loop_->getLoopLatch())
      return std::nullopt;
    if (!writes_far_apart() || !can_repeat_rest() || !can_be_interchanged()) return std::nullopt;
    const bool computable =
        llvm::all_of(loop_->getHeader()->phis(), [&](PHINode& phi) { return recurrence(phi); });
    return computable ? find_limit() : std::nullopt;
  }

 private:
  const llvm::SCEVAddRecExpr* recurrence(PHINode& phi) const {
    if (!evolution_.isSCEVable(phi.getType())) return nullptr;
    const auto* found = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(&phi));
    return found && found->getLoop() == loop_ && found->isAffine() ? found : nullptr;
  }

  // Otherwise memory is accessed in order already.
  bool writes_far_apart() {
    StrideInLoop strides(*loop_, evolution_);
    return any_in_loop([&](Instruction& instruction) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || !is_device_memory(store->getPointerOperand())) return false;
      const SCEV* stride = strides.of(store->getPointerOperand());
      if (!stride || stride->isZero()) return false;
      const auto* bytes = llvm::dyn_cast<llvm::SCEVConstant>(stride);
      return !bytes || bytes->getAPInt().abs().uge(kFar);
    });
  }

  bool can_be_interchanged() {
    return !any_in_loop([&](Instruction& instruction) {
      const bool used_outside = llvm::any_of(instruction.users(), [&](llvm::User* user) {
        return !loop_->contains(checked_cast<Instruction>(user));
      });
      return used_outside || !can_take_turns(instruction);
    });
  }

  // Whether what is outside the loop may run for each iteration.
  bool can_repeat_rest() {
    const auto outside = llvm::count_if(llvm::instructions(body_), [&](Instruction& instruction) {
      return !loop_->contains(&instruction);
    });
    return outside <= kMaxRepeated &&
           llvm::none_of(llvm::instructions(body_), [&](Instruction& instruction) {
             if (loop_->contains(&instruction)) return false;
             if (llvm::isa<llvm::AllocaInst>(instruction) || has_effects(instruction)) return true;
             auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
             return load && !is_invariant(*load) && any_in_loop([&](Instruction& other) {
                      return llvm::isModSet(
                          aliases_.getModRefInfo(&other, llvm::MemoryLocation::get(load)));
                    });
           });
  }

  bool any_in_loop(llvm::function_ref<bool(Instruction&)> test) const {
    return llvm::any_of(loop_->blocks(), [&](BasicBlock* block) {
      return llvm::any_of(*block, [&](Instruction& instruction) { return test(instruction); });
    });
  }

  static bool is_invariant(const llvm::LoadInst& load) {
    return load.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  }

  std::optional<CountedLoop> find_limit() {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop_->getLoopLatch()->getTerminator());
    auto* compare = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
    if (!compare) return std::nullopt;
    llvm::CmpInst::Predicate predicate = compare->getPredicate();
    if (branch->getSuccessor(0) != loop_->getHeader())
      predicate = llvm::CmpInst::getInversePredicate(predicate);
    Value *compared = compare->getOperand(0), *limit = compare->getOperand(1);
    if (loop_->isLoopInvariant(compared)) {
      std::swap(compared, limit);
      predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    if (predicate != llvm::CmpInst::ICMP_ULT && predicate != llvm::CmpInst::ICMP_SLT)
      return std::nullopt;
    for (PHINode& phi : loop_->getHeader()->phis()) {
      const bool compares_next = phi.getIncomingValueForBlock(loop_->getLoopLatch()) == compared;
      if (!compares_next && !(&phi == compared && phi.getType()->isIntegerTy())) continue;
      const bool is_signed = predicate == llvm::CmpInst::ICMP_SLT;
      CountedLoop counted{loop_, &phi, limit, is_signed, compares_next, 0, 0};
      if (!find_starts(counted) || !is_same_in_row(evolution_.getSCEV(limit)) ||
          !is_same_in_row(recurrence(phi)->getStepRecurrence(evolution_)))
        return std::nullopt;
      return counted;
    }
    return std::nullopt;
  }

  // False if it is not known how much further the next thread of the row starts.
  bool find_starts(CountedLoop& counted) {
    const SCEV* start = recurrence(*counted.number)->getStart();
    bool is_signed = counted.is_signed;
    if (const auto* extension = llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(start);
        extension && !llvm::isa<llvm::SCEVTruncateExpr>(extension)) {
      start = extension->getOperand();
      is_signed |= llvm::isa<llvm::SCEVSignExtendExpr>(extension);
    }
    const auto bits = static_cast<unsigned>(evolution_.getTypeSizeInBits(start->getType()));
    counted.greatest_start = llvm::maxUIntN(is_signed ? bits - 1 : bits);
    llvm::Argument* x = body_.getArg(kXArgument);
    const SCEV* place = evolution_.getSCEV(x);
    llvm::ValueToSCEVMapTy next{{x, evolution_.getAddExpr(place, evolution_.getOne(x->getType()))}};
    const SCEV* next_start = llvm::SCEVParameterRewriter::rewrite(start, evolution_, next);
    const auto* step =
        llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(next_start, start));
    llvm::ValueToSCEVMapTy first{{x, evolution_.getZero(x->getType())}};
    if (!step || !is_same_in_row(llvm::SCEVParameterRewriter::rewrite(start, evolution_, first)))
      return false;
    counted.thread_step = step->getAPInt().getLimitedValue();
    return counted.thread_step > 0 && counted.thread_step <= kMaxStep;
  }

  bool is_same_in_row(const SCEV* value) const {
    return !llvm::SCEVExprContains(value, [&](const SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      return unknown && !is_same_in_row(unknown->getValue());
    });
  }

  static bool is_same_in_row(const Value* value) {
    llvm::SmallSetVector<const Value*, 16> parts;
    parts.insert(value);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (may_differ_in_row(*parts[i])) return false;
      if (const auto* instruction = llvm::dyn_cast<Instruction>(parts[i]))
        parts.insert(instruction->value_op_begin(), instruction->value_op_end());
    }
    return true;
  }

  // Between the threads of a row, although the operands are the same.
  static bool may_differ_in_row(const Value& value) {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return argument->getArgNo() != kGroupArgument && argument->getArgNo() != kYArgument &&
             argument->getArgNo() != kZArgument;
    if (llvm::isa<PHINode, llvm::AllocaInst, llvm::CallBase>(value)) return true;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    return load ? !is_invariant(*load) : instruction && instruction->mayReadOrWriteMemory();
  }

  llvm::Function& body_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::AAResults& aliases_;
  llvm::Loop* loop_ = nullptr;
};

// Clones the body into a function with another result, and perhaps the number of an iteration as
// one more argument.
llvm::Function* clone_as(llvm::Function& body, llvm::Type* result, bool has_number,
                         const llvm::Twine& name) {
  llvm::SmallVector<llvm::Type*> types(body.getFunctionType()->params());
  if (has_number) types.push_back(llvm::Type::getInt32Ty(body.getContext()));
  auto* clone = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                       llvm::Function::InternalLinkage, name, body.getParent());
  llvm::ValueToValueMapTy values;
  for (llvm::Argument& argument : body.args()) {
    values[&argument] = clone->getArg(argument.getArgNo());
    clone->getArg(argument.getArgNo())->setName(argument.getName());
  }
  if (has_number) clone->getArg(kIterationArgument)->setName("iteration");
  llvm::SmallVector<llvm::ReturnInst*> returns;
  llvm::CloneFunctionInto(clone, &body, values, llvm::CloneFunctionChangeType::LocalChangesOnly,
                          returns);
  clone->setLinkage(llvm::Function::InternalLinkage);  // the body's own linkage was copied
  return clone;
}

// Adds code at the end of the block before the loop.
class BeforeLoop {
 public:
  BeforeLoop(const CountedLoop& counted, llvm::ScalarEvolution& evolution)
      : counted_(counted),
        loop_(*counted.loop),
        evolution_(evolution),
        expander_(evolution, loop_.getHeader()->getModule()->getDataLayout(), "step"),
        b_(loop_.getLoopPreheader()->getTerminator()) {}

  // Replaces the loop by the iteration with this number.
  void run_one(Value* iteration) {
    BasicBlock *before = loop_.getLoopPreheader(), *latch = loop_.getLoopLatch();
    BasicBlock *header = loop_.getHeader(), *exit = loop_.getExitBlock();
    llvm::SmallMapVector<PHINode*, Value*, 4> values;
    for (PHINode& phi : header->phis()) values[&phi] = value_in(iteration, phi);
    // The first iteration runs anyway. The loop compares these before each other one.
    Value* compared = values[counted_.number];
    if (!counted_.compares_next) compared = b_.CreateSub(compared, step_of(*counted_.number));
    // Not as arguments of one call, whose order each C++ compiler chooses.
    Value* is_first = b_.CreateICmpEQ(iteration, b_.getInt32(0));
    auto less = counted_.is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
    Value* goes_on = b_.CreateICmp(less, compared, counted_.limit);
    Value* runs = b_.CreateOr(is_first, goes_on);
    for (const auto& [phi, value] : values) {
      phi->replaceAllUsesWith(value);
      phi->eraseFromParent();
    }
    for (PHINode& phi : exit->phis()) phi.addIncoming(phi.getIncomingValueForBlock(latch), before);
    llvm::ReplaceInstWithInst(before->getTerminator(),
                              llvm::BranchInst::Create(header, exit, runs));
    llvm::ReplaceInstWithInst(latch->getTerminator(), llvm::BranchInst::Create(exit));
  }

  // Replaces the loop, and what comes after it, by a return of InterchangedLoop::count. With
  // `first` and `last` as the numbers at which the threads of the row start, all of them stay below
  // last + iterations * step.
  void return_count() {
    llvm::Function& code = *loop_.getHeader()->getParent();
    Value* first = as_long(counted_.number->getIncomingValueForBlock(loop_.getLoopPreheader()));
    Value* limit = as_long(counted_.limit);
    Value* step = as_long(step_of(*counted_.number));
    Value* more =
        b_.CreateUDiv(b_.CreateSub(b_.CreateSub(limit, first), b_.getInt64(1)),
                      b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, step, b_.getInt64(1)));
    if (!counted_.compares_next) more = b_.CreateAdd(more, b_.getInt64(1));
    Value* count = b_.CreateAdd(
        b_.CreateSelect(b_.CreateICmpULT(first, limit), more, b_.getInt64(0)), b_.getInt64(1));
    Value* threads = GroupAccess(b_, code.getArg(kGroupArgument)).size(0);
    Value* last = b_.CreateAdd(first, b_.CreateMul(b_.CreateZExt(threads, b_.getInt64Ty()),
                                                   b_.getInt64(counted_.thread_step)));
    Value* end = b_.CreateAdd(last, b_.CreateMul(count, step));
    Value* known = b_.CreateICmpULE(end, b_.getInt64(greatest()));
    for (Value* value : {first, limit, step})
      known = b_.CreateAnd(known, b_.CreateICmpULE(value, b_.getInt64(kMaxNumber)));
    known = b_.CreateAnd(known, b_.CreateICmpULE(last, b_.getInt64(counted_.greatest_start)));
    known = b_.CreateAnd(known, b_.CreateICmpNE(step, b_.getInt64(0)));
    known = b_.CreateAnd(known, b_.CreateICmpULE(count, b_.getInt64(kMaxIterations)));
    Value* result = b_.CreateSelect(known, b_.CreateTrunc(count, b_.getInt32Ty()), b_.getInt32(0));
    llvm::ReplaceInstWithInst(loop_.getLoopPreheader()->getTerminator(),
                              llvm::ReturnInst::Create(code.getContext(), result));
  }

 private:
  // Numbers up to this can be added and multiplied as return_count does, without wrapping around.
  static constexpr uint64_t kMaxNumber = uint64_t{1} << 60;
  static constexpr uint64_t kMaxIterations = uint64_t{1} << 30;

  Value* step_of(PHINode& phi) {
    const auto* recurrence = checked_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(&phi));
    return expander_.expandCodeFor(recurrence->getStepRecurrence(evolution_), nullptr,
                                   loop_.getLoopPreheader()->getTerminator());
  }

  Value* value_in(Value* iteration, PHINode& phi) {
    Value* start = phi.getIncomingValueForBlock(loop_.getLoopPreheader());
    Value* step = step_of(phi);
    Value* number = b_.CreateZExtOrTrunc(iteration, step->getType());
    if (phi.getType()->isPointerTy()) return b_.CreatePtrAdd(start, b_.CreateMul(step, number));
    // The caller has made sure that the counted number does not wrap around.
    const bool exact = &phi == counted_.number;
    const bool exact_if_signed = exact && counted_.is_signed;
    return b_.CreateAdd(start, b_.CreateMul(step, number, "", exact, exact_if_signed), "", exact,
                        exact_if_signed);
  }

  // Negative numbers become greater than kMaxNumber.
  Value* as_long(Value* value) {
    if (value->getType()->isPointerTy()) return b_.CreatePtrToInt(value, b_.getInt64Ty());
    return counted_.is_signed ? b_.CreateSExt(value, b_.getInt64Ty())
                              : b_.CreateZExt(value, b_.getInt64Ty());
  }

  // The greatest number of the type that is compared.
  uint64_t greatest() const {
    llvm::Type* type = counted_.number->getType();
    const unsigned bits = type->isPointerTy() ? 64 : type->getIntegerBitWidth();
    return llvm::maxUIntN(counted_.is_signed ? bits - 1 : bits);
  }

  const CountedLoop& counted_;
  const llvm::Loop& loop_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  llvm::IRBuilder<> b_;
};

// Changes the only loop of a clone.
void change_loop(llvm::Function& clone, Optimizer& optimizer,
                 llvm::function_ref<void(BeforeLoop&)> change) {
  llvm::FunctionAnalysisManager& analyses = optimizer.functions();
  analyses.clear();
  const auto counted = LoopFinder(clone, analyses).find();
  if (!counted) internal_error("a clone has another loop than its body");
  {
    BeforeLoop before(*counted, analyses.getResult<llvm::ScalarEvolutionAnalysis>(clone));
    change(before);
  }
  llvm::removeUnreachableBlocks(clone);
  optimizer.tidy(clone);
  compiler::verify(clone, "interchange-loop");
}

llvm::Function* make_iteration(llvm::Function& body, Optimizer& optimizer) {
  llvm::Function* clone =
      clone_as(body, body.getReturnType(), /*has_number=*/true, "kernel.iteration");
  change_loop(*clone, optimizer,
              [&](BeforeLoop& before) { before.run_one(clone->getArg(kIterationArgument)); });
  return clone;
}

llvm::Function* make_count(llvm::Function& body, Optimizer& optimizer) {
  llvm::Type* number = llvm::Type::getInt32Ty(body.getContext());
  llvm::Function* clone = clone_as(body, number, /*has_number=*/false, "kernel.iterations");
  for (BasicBlock& block : *clone) {
    // The first thread of the row has no iteration.
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator()))
      llvm::ReplaceInstWithInst(
          block.getTerminator(),
          llvm::ReturnInst::Create(body.getContext(), llvm::ConstantInt::get(number, 0)));
  }
  change_loop(*clone, optimizer, [](BeforeLoop& before) { before.return_count(); });
  return clone;
}

}  // namespace

InterchangedLoop interchange_loop(llvm::Function& body, Optimizer& optimizer) {
  optimizer.functions().clear();
  if (!LoopFinder(body, optimizer.functions()).find()) return {};
  return {make_iteration(body, optimizer), make_count(body, optimizer)};
}

}  // namespace metal::cpu
